/** Rows of the simulator's rules as merchants read them. */
import {
  type Effect,
  longestDelayMs,
  type Rule,
  rules,
  type Sign,
} from '../../connectors/simulator/rules.ts'
import type { TestData, TestDataRow } from '../../schemas/generate/test-data.ts'

const fieldOf: Readonly<Record<Sign, string>> = {
  holder: 'card.holder',
  number: 'card.number',
  iban: 'bankAccount.iban',
  account: 'virtualAccount.accountId',
  brand: 'paymentBrand',
  cvv: 'card.cvv',
  postcode: 'billing.postcode',
  amount: 'amount',
  parameter: 'customParameters',
  challengeCode: 'code on the challenge page',
  check: 'checks before sending',
}

/** Parts of an effect that decide the payment. */
const inEffect = [
  'decision',
  'delivery',
  'avs',
  'cvv',
  'refusedBefore',
  'delaysAnswer',
  'declinesAsNamed',
] as const
const ofAuthentication = ['authentication', 'limitsChallenge'] as const
const ofSettlement = ['later', 'settlement'] as const

const hasPart = (effect: Effect, parts: readonly (keyof Effect)[]) =>
  parts.some((part) => effect[part] !== undefined)

/** Whether the row changes what the acquirer does. A row without any effect is an approved card. */
export const isInEffect = ([sign, , effect]: Rule): boolean =>
  sign !== 'challengeCode' && (Object.keys(effect).length === 0 || hasPart(effect, inEffect))

/** Whether the row changes the authentication before the acquirer. */
export const isOfAuthentication = ([, , effect]: Rule): boolean => hasPart(effect, ofAuthentication)

/** Whether the row changes the settlement of the payment. */
export const isOfSettlement = ([, , effect]: Rule): boolean => hasPart(effect, ofSettlement)

/** What the row means for the payment: the meaning of the table, unless it is about the settlement. */
export function meaningOf(rule: Rule): string {
  const [, , effect, meaning] = rule
  return hasPart(effect, ofSettlement) || meaning === outcomeOf(rule) ? '' : meaning
}

/** Field, and values in words. */
export function valuesOf([sign, is]: Rule): [field: string, values: string] {
  if (sign === 'check') return [fieldOf.check, String(is)]
  if (is === 'otherwise') return [`\`${fieldOf[sign]}\``, others[sign] ?? 'any other value']
  if (sign === 'parameter') return parameter(is)
  const mark = sign === 'amount' ? '.' : ''
  const values = is.map((value) => `\`${mark}${value}\``).join(', ')
  if (sign === 'challengeCode') {
    return [fieldOf.challengeCode, /^`[0-9]/.test(values) ? values : String(is)]
  }
  if (is.includes('pending-long')) return [`\`${fieldOf[sign]}\``, `a code of the group ${values}`]
  return [`\`${fieldOf[sign]}\``, `${prefixes[sign] ?? ''}${values}`]
}

const others: Partial<Record<Sign, string>> = {
  holder: 'any other result code that does not begin with `000`',
}
const prefixes: Partial<Record<Sign, string>> = {
  account: 'begins with ',
  amount: 'ends with ',
}

/** Values of parameters that are no whole numbers. */
const free: Readonly<Record<string, string>> = {
  SIM_DECLINE: 'a result code that is neither a success nor pending',
}

function parameter(is: readonly string[]): [string, string] {
  const [name = '', value] = (is[0] ?? '').split('=')
  if (name.includes('.')) return [`\`${name}\``, `\`${value}\``]
  return [
    `\`customParameters[${name}]\``,
    value === undefined ? (free[name] ?? 'a whole number') : `\`${value}\``,
  ]
}

/** What comes of a payment that the row fits. */
export function outcomeOf([, , effect]: Rule): string {
  const { decision, delivery, avs, cvv, refusedBefore, delaysAnswer, declinesAsNamed } = effect
  const parts = [
    ...(refusedBefore === undefined ? [] : [`refused with \`${refusedBefore}\``]),
    ...(decision === undefined ? [] : [decided(decision)]),
    ...(delivery === undefined ? [] : ['approved']),
    ...(avs === undefined ? [] : [`\`result.avsResponse\` \`${avs}\``]),
    ...(cvv === undefined ? [] : [`\`result.cvvResponse\` \`${cvv}\``]),
    ...(declinesAsNamed === undefined ? [] : ['declined with this code']),
    ...(delaysAnswer === undefined ? [] : [`a delay of up to ${longestDelayMs / 1000} s`]),
  ]
  return parts.length === 0 ? 'approved' : parts.join(', ')
}

/** What comes of the authentication of a card that the row fits. */
export function authenticationOf([, , effect]: Rule): string {
  if (effect.limitsChallenge) return 'a challenge without an answer ends with `100.380.501`'
  const { enrolled, flow, status, eci, deviceStep, ends } = effect.authentication ?? {}
  if (enrolled === false) return 'status `U`, reason `13`; the payment continues without 3-D Secure'
  const parts = [
    ...(flow === 'challenge' ? ['a challenge'] : []),
    ...(deviceStep ? ['`redirect.preconditions`'] : []),
    ...(flow === 'frictionless' && status === undefined
      ? ['status `Y`, unless its row says otherwise']
      : []),
    ...(status === undefined ? [] : [`status \`${status}\``]),
    ...(eci === undefined ? [] : [`eci \`${eci.VISA}\` (VISA), \`${eci.MASTER}\` (MASTER)`]),
    ...(ends === undefined ? [] : [`\`${ends}\``]),
  ]
  return parts.length === 0 ? 'takes part in 3-D Secure' : parts.join(', ')
}

function decided(decision: NonNullable<Rule[2]['decision']>): string {
  switch (decision.is) {
    case 'approved':
      return 'approved'
    case 'declined':
      return `declined with \`${decision.reason}\``
    case 'stepUp':
      return `declined with \`${decision.reason}\`, or approved if the request has 3-D Secure values`
    case 'declinedAsNamed':
      return 'declined with that code'
    case 'pendingAsNamed':
      return 'pending with that code'
    case 'pending':
      return `pending for ${decision.seconds} s, then ${decision.ends === 'approved' ? 'approved' : `declined with \`${decision.ends}\``}`
    case 'redirect':
      return 'pending, `000.200.000`, with a `redirect`'
    case 'notSent':
      return 'declined with `900.100.600`'
    case 'answerLost':
      return 'unknown, `000.200.001`'
  }
}

const rowOf = (rule: Rule, result: string, meaning: string): TestDataRow => {
  const [field, values] = valuesOf(rule)
  return { field, values, result, meaning }
}

/** All test data, in the order of the rules. */
export const simulatorData = (): TestData => ({
  outcomes: rules.filter(isInEffect).map((rule) => rowOf(rule, outcomeOf(rule), meaningOf(rule))),
  authentications: rules
    .filter(isOfAuthentication)
    .map((rule) => rowOf(rule, authenticationOf(rule), rule[3])),
  settlement: rules.filter(isOfSettlement).map((rule) => rowOf(rule, '', rule[3])),
})
