import type { Instrument, Operation, RequestFields } from '@tollgate/plugin-kit'
import type { Labels } from './entry.ts'
import type { Request } from './ledger.ts'
import { longestDelayMs, type SimulatorParameter } from './rules.ts'
import type { Signs } from './verdict.ts'

/** The engine's operation as the acquirer sees it, and the delay of its answer. */
export function toRequest(operation: Operation): Request & { readonly delayMs: number } {
  const { kind, key, paymentId, amount, original, instrument, request } = operation
  const { SIM_DELAY_MS: delay, SIM_DECLINE: decline } = ownParameters(request)
  const industryPractice = branch(request.standingInstruction)?.industryPractice
  return {
    kind,
    key,
    paymentId,
    amount,
    instrument: labelOf(instrument),
    signs: signsOf(operation),
    delayMs: Math.min(Number(delay ?? 0), longestDelayMs),
    ...(original === undefined ? {} : { original: original.key }),
    ...(kind === 'authorize' && original !== undefined && industryPractice === 'REAUTHORIZATION'
      ? { replaces: true }
      : {}),
    ...(operation.final ? { final: true } : {}),
    ...(decline === undefined ? {} : { decline }),
  }
}

function signsOf({ instrument, brand, request, threeDSecure }: Operation): Signs {
  const postcode = branch(request.billing)?.postcode
  const named = brand ?? instrument?.brand
  return {
    ...(named === undefined ? {} : { brand: named }),
    ...(typeof postcode === 'string' ? { postcode } : {}),
    ...(isProof(threeDSecure) ? { authenticated: true } : {}),
    ...(instrument === undefined ? {} : instrumentSigns(instrument)),
  }
}

function instrumentSigns(instrument: Instrument): Signs {
  switch (instrument.kind) {
    case 'card':
      return {
        number: instrument.number.reveal(),
        ...(instrument.holder === undefined ? {} : { holder: instrument.holder }),
        ...(instrument.cvv === undefined ? {} : { cvv: instrument.cvv.reveal() }),
      }
    case 'tokenAccount':
      return { number: instrument.number.reveal() }
    case 'bankAccount': {
      const iban = instrument.iban?.reveal().replaceAll(/\s/g, '').toUpperCase()
      return iban === undefined ? {} : { iban }
    }
    case 'virtualAccount':
      return { account: instrument.accountId }
  }
}

/** Enough to distinguish instruments, too little to use one. */
function labelOf(instrument: Instrument | undefined): string {
  switch (instrument?.kind) {
    case undefined:
      return ''
    case 'card':
      return `card ${instrument.bin} ${instrument.last4} ${instrument.expiryMonth}/${instrument.expiryYear}`
    case 'tokenAccount':
      return `token ${instrument.last4}`
    case 'bankAccount':
      return `bank ${instrument.last4}`
    case 'virtualAccount':
      return `account ${instrument.brand}`
  }
}

/** What the settlement file repeats of the operation. */
export function labelsOf(operation: Operation): Labels {
  const { brand, instrument, shortId, merchantTransactionId, descriptor } = operation
  const named = brand ?? instrument?.brand
  const last4 = instrument !== undefined && 'last4' in instrument ? instrument.last4 : undefined
  return {
    shortId,
    ...(named === undefined ? {} : { brand: named }),
    ...(last4 === undefined ? {} : { last4: last4.slice(-4) }),
    ...(merchantTransactionId === undefined ? {} : { order: merchantTransactionId }),
    ...(descriptor === undefined ? {} : { descriptor }),
  }
}

const authenticatedEci: readonly string[] = ['01', '02', '05', '06']

/** Authenticated or attempted. A status decides; without one the eci does. */
function isProof(proof: Operation['threeDSecure']): boolean {
  if (proof?.authenticationStatus !== undefined) {
    return proof.authenticationStatus === 'Y' || proof.authenticationStatus === 'A'
  }
  return proof?.eci !== undefined && authenticatedEci.includes(proof.eci)
}

/** The simulator's own parameters. The engine has checked their form. */
function ownParameters(request: RequestFields): Partial<Record<SimulatorParameter, string>> {
  return { ...branch(request.customParameters) }
}

const branch = (value: RequestFields[string]): RequestFields | undefined =>
  typeof value === 'object' && !Array.isArray(value) ? (value as RequestFields) : undefined
