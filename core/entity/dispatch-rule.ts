/** The dispatching rules of a merchant: their form, and which of them matches. */
import { brandOf, brands, currencyOf, isCountry, paymentTypes } from '@tollgate/schemas'
import type { RuleRow } from './store-dispatching.ts'

/** One rule. A missing list matches everything; a rule without lists is the default. */
export type DispatchRule = {
  /** 1 to 1,000,000, unique per merchant. The matching rule with the lowest priority decides. */
  readonly priority: number
  /** A channel of the same merchant. */
  readonly channelId: string
  readonly brands?: readonly string[]
  /** ISO 4217. A request without a currency (a registration without a payment) matches no rule with currencies. */
  readonly currencies?: readonly string[]
  /** PA, DB, CD, PA.CP, 3D, and RG for a registration without a payment. PA also matches PA.CP. */
  readonly paymentTypes?: readonly string[]
  /** ISO 3166-1, two letters. A request without a country matches no rule with countries. */
  readonly countries?: readonly string[]
}

/** The facts that rules compare. */
export type DispatchFacts = {
  /** The brand; for a card from a wallet, the brand of the card and the wallet. Empty while unknown. */
  readonly brands: readonly string[]
  readonly currency: string | null
  readonly paymentType: string
  readonly country: string | null
}

/** A rule prepared for payments, with its channel. */
export type ReadyRule = {
  readonly priority: number
  readonly channel: {
    readonly id: string
    readonly name: string
    readonly closed: boolean
    readonly settings: Readonly<Record<string, unknown>>
  }
  /** Null matches everything. */
  readonly lists: Readonly<Record<Criterion, ReadonlySet<string> | null>>
}

export const criteria = ['brands', 'currencies', 'paymentTypes', 'countries'] as const
export type Criterion = (typeof criteria)[number]

/** Every rule costs time in each payment that matches none. */
const maxRules = 1000
const maxPriority = 1_000_000
const firstTypes = [
  ...paymentTypes.filter(({ use }) => use === 'payment').map(({ code }) => code),
  'RG',
]

/** A value in the form of the rules, or undefined for an unknown value. */
const known: Readonly<Record<Criterion, (value: string) => string | undefined>> = {
  brands: (value) => brandOf(value)?.code,
  currencies: (value) => currencyOf(value)?.code,
  paymentTypes: (value) => (firstTypes.includes(value) ? value : undefined),
  countries: (value) => (isCountry(value) ? value : undefined),
}

const allowed: Readonly<Record<Criterion, string>> = {
  brands: `must be one of ${brands.map(({ code }) => code).join(', ')}`,
  currencies: 'must be an ISO 4217 code: three capital letters as in EUR',
  paymentTypes: `must be one of ${firstTypes.join(', ')}`,
  countries: 'must be an ISO 3166-1 code: two capital letters as in DE',
}

/**
 * The rules of one merchant in stored form: in order, brands by their codes.
 *
 * @throws Error naming the wrong rule, the wrong field and the allowed values.
 */
export function checkRules(
  rules: readonly DispatchRule[],
  channels: readonly { readonly id: string; readonly name: string }[],
): DispatchRule[] {
  if (!Array.isArray(rules)) throw new Error('dispatching rules must be a list')
  if (rules.length > maxRules) throw new Error(`a merchant has at most ${maxRules} rules`)
  const checked = rules.map((rule) => checkRule(rule, channels))
  checked.sort((a, b) => a.priority - b.priority)
  for (const [index, { priority }] of checked.entries()) {
    if (priority !== checked[index + 1]?.priority) continue
    throw new Error(`two rules have priority ${priority}: which one decides must be clear`)
  }
  return checked
}

function checkRule(
  rule: DispatchRule,
  channels: readonly { readonly id: string; readonly name: string }[],
): DispatchRule {
  if (typeof rule !== 'object' || rule === null) throw new Error('a rule must be an object')
  const names = ['priority', 'channelId', ...criteria]
  const { priority, channelId } = rule
  if (!Number.isInteger(priority) || priority < 1 || priority > maxPriority) {
    throw new Error(`priority of a rule must be a whole number from 1 to ${maxPriority}`)
  }
  const wrong = (why: string) => new Error(`rule ${priority}: ${why}`)
  const strange = Object.keys(rule).find((name) => !names.includes(name))
  if (strange !== undefined) {
    throw wrong(`"${strange}" is no part of a rule (there are: ${names.join(', ')})`)
  }
  if (!channels.some(({ id }) => id === channelId)) {
    throw wrong(`channelId "${channelId}" is no channel of this merchant${namesOf(channels)}`)
  }
  const lists: [Criterion, string[]][] = []
  for (const name of criteria) {
    const list = rule[name]
    if (list === undefined) continue
    if (!Array.isArray(list) || list.length === 0) {
      throw wrong(`${name} must be a list of at least one; leave it out to take every one`)
    }
    const values = (list as readonly string[]).map((value) => {
      const found = known[name](value)
      if (found === undefined) throw wrong(`${name}: "${value}" ${allowed[name]}`)
      return found
    })
    lists.push([name, [...new Set(values)]])
  }
  return { priority, channelId, ...Object.fromEntries(lists) }
}

function namesOf(channels: readonly { readonly id: string; readonly name: string }[]): string {
  if (channels.length === 0) return ', which has none yet'
  const shown = channels.slice(0, 20).map(({ id, name }) => `${id} ${name}`)
  return ` (there are: ${shown.join(', ')}${channels.length > 20 ? ', …' : ''})`
}

/** Facts in the form of the rules. @throws Error naming an unknown value. */
export function checkFacts(facts: DispatchFacts): DispatchFacts {
  const one = (name: Criterion, value: string) => {
    const found = known[name](value)
    if (found === undefined) throw new Error(`${name}: "${value}" ${allowed[name]}`)
    return found
  }
  return {
    brands: facts.brands.map((brand) => one('brands', brand)),
    currency: facts.currency === null ? null : one('currencies', facts.currency),
    paymentType: one('paymentTypes', facts.paymentType),
    country: facts.country === null ? null : one('countries', facts.country),
  }
}

export function readyRule(row: RuleRow): ReadyRule {
  const set = (list: readonly string[] | null) => (list === null ? null : new Set(list))
  return {
    priority: row.priority,
    channel: {
      id: row.channel_id,
      name: row.channel_name,
      closed: row.channel_closed,
      settings: row.channel_settings,
    },
    lists: {
      brands: set(row.brands),
      currencies: set(row.currencies),
      paymentTypes: set(row.payment_types),
      countries: set(row.countries),
    },
  }
}

/** The first rule that matches. Expects rules in order. */
export function firstFitting(
  rules: readonly ReadyRule[],
  facts: DispatchFacts,
): ReadyRule | undefined {
  const values = criteria.map((name) => [name, valuesOf(facts, name)] as const)
  return rules.find((rule) => values.every(([name, some]) => takes(rule, name, some)))
}

/** Whether a list of a rule matches one of these values. */
export function takes(rule: ReadyRule, name: Criterion, values: readonly string[]): boolean {
  const list = rule.lists[name]
  return list === null || values.some((value) => list.has(value))
}

export function valuesOf(facts: DispatchFacts, name: Criterion): readonly string[] {
  switch (name) {
    case 'brands':
      return facts.brands
    case 'currencies':
      return facts.currency === null ? [] : [facts.currency]
    case 'paymentTypes':
      // The first step of a PA.CP is a PA like any other.
      return facts.paymentType === 'PA.CP' ? ['PA.CP', 'PA'] : [facts.paymentType]
    case 'countries':
      return facts.country === null ? [] : [facts.country]
  }
}

/** An earlier rule that matches everything that this rule matches, so that this rule never decides. */
export function shadowOf(rules: readonly ReadyRule[], rule: ReadyRule): ReadyRule | undefined {
  return rules.find(
    (earlier) =>
      earlier.priority < rule.priority &&
      criteria.every((name) => {
        const wide = earlier.lists[name]
        const narrow = rule.lists[name]
        if (wide === null) return true
        return narrow !== null && [...narrow].every((value) => covers(wide, value))
      }),
  )
}

const covers = (list: ReadonlySet<string>, value: string) =>
  list.has(value) || (value === 'PA.CP' && list.has('PA'))
