import type { Money } from '@tollgate/plugin-kit'
import { currencyOf, isResultCode, type Reason, resultGroup } from '@tollgate/schemas'
import { type Decision, type Effect, precedence, type Rule, rules, type Sign } from './rules.ts'

/** The simulator's input from an operation. Held in memory for the decision only. */
export type Signs = {
  readonly holder?: string
  readonly number?: string
  readonly iban?: string
  readonly account?: string
  readonly brand?: string
  readonly cvv?: string
  readonly postcode?: string
  /** Whether the operation has a 3-D Secure proof. */
  readonly authenticated?: boolean
}

/** A decision without placeholders: the holder's code and the step-up are resolved. */
export type Settled =
  | Exclude<
      Decision,
      { is: 'declinedAsNamed' } | { is: 'pendingAsNamed' } | { is: 'stepUp' } | { is: 'pending' }
    >
  | {
      readonly is: 'pending'
      /** The shown pending code, if it is not the ordinary one. */
      readonly reason?: Reason
      /** Absent: stays open for good. */
      readonly ends?: { readonly seconds: number; readonly as: 'approved' | Reason }
    }

export type Verdict = {
  readonly decision: Settled
  readonly delivery: 'once' | 'twice' | 'eventFirst'
  readonly avs?: NonNullable<Effect['avs']>
  readonly cvv?: NonNullable<Effect['cvv']>
  /** By the instrument. Rules for amounts hold for every line of a settlement file by itself. */
  readonly later?: NonNullable<Effect['later']>
  readonly settlement?: NonNullable<Effect['settlement']>
}

const byValue = new Map<Sign, Map<string, Effect>>()
const otherwise = new Map<Sign, Effect>()
const beginnings: { readonly beginning: string; readonly effect: Effect }[] = []
for (const rule of rules) index(rule)

function index([sign, is, effect]: Rule): void {
  if (is === 'otherwise') {
    otherwise.set(sign, effect)
    return
  }
  for (const value of is) {
    if (sign === 'account') beginnings.push({ beginning: value, effect })
    else {
      const values = byValue.get(sign) ?? new Map<string, Effect>()
      values.set(value, effect)
      byValue.set(sign, values)
    }
  }
}

const approved: Decision = { is: 'approved' }

/** The verdict of the rules on an operation's signs and amount. */
export function judge(signs: Signs, amount: Money): Verdict {
  let decision: Decision | undefined
  let delivery: Effect['delivery']
  let avs: Effect['avs']
  let cvv: Effect['cvv']
  let later: Effect['later']
  let settlement: Effect['settlement']
  for (const sign of precedence) {
    const effect = effectOf(sign, signs, amount)
    if (effect === undefined) continue
    decision ??= effect.decision
    delivery ??= effect.delivery
    avs ??= effect.avs
    cvv ??= effect.cvv
    if (sign === 'amount') continue
    later ??= effect.later
    settlement ??= effect.settlement
  }
  return {
    decision: settle(decision ?? approved, signs),
    delivery: delivery ?? 'once',
    ...(avs === undefined ? {} : { avs }),
    ...(cvv === undefined ? {} : { cvv }),
    ...(later === undefined ? {} : { later }),
    ...(settlement === undefined ? {} : { settlement }),
  }
}

/** The error in the settlement line of an amount. */
export function oddLineOf(amount: Money): Effect['settlement'] {
  return effectOf('amount', {}, amount)?.settlement
}

/**
 * Later events and the error in the settlement line of a stored instrument, of which only the first six and the
 * last four digits are known: of bank and token accounts the last four.
 */
export function traitsShown(
  bin: string | undefined,
  last4: string | undefined,
): Pick<Effect, 'later' | 'settlement'> {
  return last4 === undefined ? {} : (byDigits.get(`${bin ?? ''} ${last4}`) ?? {})
}

const byDigits = new Map<string, Pick<Effect, 'later' | 'settlement'>>()
for (const [sign, is, effect] of rules) {
  if (is === 'otherwise' || (sign !== 'number' && sign !== 'iban')) continue
  if (effect.later === undefined && effect.settlement === undefined) continue
  for (const value of is) {
    byDigits.set(` ${value.slice(-4)}`, effect)
    if (sign === 'number') byDigits.set(`${value.slice(0, 6)} ${value.slice(-4)}`, effect)
  }
}

function effectOf(sign: (typeof precedence)[number], signs: Signs, amount: Money) {
  if (sign === 'amount') {
    const decimals = decimalsOf(amount)
    return decimals === undefined ? undefined : byValue.get('amount')?.get(decimals)
  }
  const value = signs[sign]
  if (value === undefined) return undefined
  if (sign === 'holder') {
    if (!isNamedResult(value)) return undefined
    const values = byValue.get('holder')
    return values?.get(value) ?? values?.get(resultGroup(value)) ?? otherwise.get('holder')
  }
  if (sign === 'account') {
    return beginnings.find(({ beginning }) => value.startsWith(beginning))?.effect
  }
  return byValue.get(sign)?.get(value) ?? otherwise.get(sign)
}

function settle(decision: Decision, signs: Signs): Settled {
  switch (decision.is) {
    case 'declinedAsNamed':
      return { is: 'declined', reason: signs.holder! as Reason }
    case 'pendingAsNamed':
      return { is: 'pending', reason: signs.holder! as Reason }
    case 'pending':
      return { is: 'pending', ends: { seconds: decision.seconds, as: decision.ends } }
    case 'stepUp':
      return signs.authenticated ? { is: 'approved' } : { is: 'declined', reason: decision.reason }
    default:
      return decision
  }
}

/**
 * Result codes begin with a digit and names of people do not, so only such holders are looked up.
 */
function isNamedResult(holder: string): boolean {
  const first = holder.charCodeAt(0)
  if (first < 48 || first > 57) return false
  return isResultCode(holder) && !holder.startsWith('000')
}

/**
 * The two decimals of a written amount, `87` for 92.87; undefined in currencies without decimals. A
 * third decimal cannot be written.
 */
export function decimalsOf({ minor, currency }: Money): string | undefined {
  const exponent = currencyOf(currency)?.exponent ?? 2
  if (exponent < 2) return undefined
  const hundredths = (exponent === 2 ? minor : minor / 10n ** BigInt(exponent - 2)) % 100n
  return hundredths < 10n ? `0${hundredths}` : String(hundredths)
}
