/** Channel dispatching: which channel takes a payment that names only its merchant. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { brandOf, brands } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import type { Addressee, Channel } from '../entity/directory.ts'
import {
  type Criterion,
  criteria,
  type DispatchFacts,
  firstFitting,
  type ReadyRule,
  takes,
  valuesOf,
} from '../entity/dispatch-rule.ts'
import { GatewayError, type ParameterError } from '../errors.ts'
import { type CheckedAccount, checkAccount } from '../request/account.ts'
import { checkCountries } from '../request/address.ts'
import { checkAmount } from '../request/amount.ts'
import { refuseUnavailable } from '../request/capabilities.ts'
import { groupOf, textOf } from '../request/values.ts'

/**
 * The channel of a first payment: the named one, or the choice of the merchant's rules. Reads
 * nothing from the database, since the rules came with the merchant.
 *
 * @throws GatewayError 600.200.202 no rule accepts this payment type, 600.200.500 none accepts the
 * brand, currency, country or their combination, 500.100.203 the entity or the rule's channel is
 * closed, 200.300.404 the merchant has no rules. Errors of the request itself come first.
 */
export function dispatch(
  { clock }: { readonly clock: Clock },
  addressee: Addressee,
  fields: RequestFields,
  use: { readonly only?: 'verification' | 'authentication' },
): Channel {
  const { closed, rules } = addressee
  if (closed) throw new GatewayError('500.100.203')
  if (rules === undefined) return addressee
  const facts = factsOf(fields, use.only, clock.businessAt(addressee.id))
  if (rules.length === 0) throw notDispatched(addressee.id)
  const rule = firstFitting(rules, facts)
  if (rule === undefined) throw noneFits(rules, facts, countryField(fields))
  const { channel } = rule
  if (channel.closed) {
    // Another channel may be another contract, so the next rule does not step in by itself.
    throw new GatewayError('500.100.203', {
      description: 'The channel that the dispatching rules choose for this request is closed.',
    })
  }
  return {
    id: channel.id,
    name: channel.name,
    path: [channel.id, ...addressee.path],
    settings: { ...addressee.settings, ...channel.settings },
  }
}

/** The facts for the rules. A faulty request gets its own error before the rules apply. */
function factsOf(
  fields: RequestFields,
  only: 'verification' | 'authentication' | undefined,
  now: Date,
): DispatchFacts {
  const paymentType =
    only === undefined
      ? (textOf(fields, 'paymentType') ?? '')
      : only === 'verification'
        ? 'RG'
        : '3D'
  // Whether shoppers are authenticated is for the channel to say.
  if (only === undefined) refuseUnavailable(fields, paymentType, true)
  // Whether a security code is needed is for the channel to say.
  const account = checkAccount(fields, { now, cvvAsked: false })
  const currency =
    only !== 'verification' ? checkAmount(fields, { now, followUp: false }).currency : null
  checkCountries(fields)
  return { brands: brandsOf(fields, account), currency, paymentType, country: countryOf(fields) }
}

/** The brand of the account, and the wallet it came out of. */
function brandsOf(fields: RequestFields, account: CheckedAccount): string[] {
  const names = new Set<string>()
  if (account.brand !== undefined) names.add(account.brand.code)
  const sent = brandOf(textOf(fields, 'paymentBrand') ?? '')
  if (sent !== undefined) names.add(sent.code)
  const wallet = 'wallet' in account ? account.wallet : undefined
  const walletBrand = brands.find((brand) => wallet !== undefined && brand.account === wallet)
  if (walletBrand !== undefined) names.add(walletBrand.code)
  return [...names]
}

/** The field of the payer's country; the destination of goods does not count. */
function countryField(fields: RequestFields): string {
  if (textOf(groupOf(fields, 'billing'), 'country') !== undefined) return 'billing.country'
  const bank = groupOf(fields, 'bankAccount')
  if (textOf(bank, 'country') !== undefined) return 'bankAccount.country'
  return textOf(bank, 'iban') === undefined ? 'billing.country' : 'bankAccount.iban'
}

function countryOf(fields: RequestFields): string | null {
  const [group = '', field = ''] = countryField(fields).split('.')
  // An IBAN begins with the country that keeps the account.
  return textOf(groupOf(fields, group), field)?.slice(0, 2).toUpperCase() ?? null
}

const fieldNames: Readonly<Record<Exclude<Criterion, 'countries'>, string>> = {
  brands: 'paymentBrand',
  currencies: 'currency',
  paymentTypes: 'paymentType',
}

/**
 * Names the value that no rule accepts, or the combination when some rule accepts each value alone.
 * The text names parts of the request and nothing of the rules.
 */
function noneFits(
  rules: readonly ReadyRule[],
  facts: DispatchFacts,
  country: string,
): GatewayError {
  const used = criteria.filter((name) => rules.some((rule) => rule.lists[name] !== null))
  const untaken = used.filter(
    (name) => !rules.some((rule) => takes(rule, name, valuesOf(facts, name))),
  )
  const fieldOf = (name: Criterion) => (name === 'countries' ? country : fieldNames[name])
  const shown = (name: Criterion) => {
    const [value] = valuesOf(facts, name)
    return value ?? (name === 'brands' ? 'unknown' : 'not sent')
  }
  const parameterErrors = (untaken.length > 0 ? untaken : used).map((name): ParameterError => {
    const [value] = valuesOf(facts, name)
    return {
      name: fieldOf(name),
      ...(value === undefined ? {} : { value }),
      message:
        untaken.length > 0
          ? 'is taken by no dispatching rule of this merchant'
          : 'is taken by no dispatching rule of this merchant together with the others',
    }
  })
  const looked = used.map((name) => `${fieldOf(name)} ${shown(name)}`).join(', ')
  const isType = untaken.length === 1 && untaken[0] === 'paymentTypes'
  return new GatewayError(isType ? '600.200.202' : '600.200.500', {
    description: `No dispatching rule of this merchant fits the request; looked at: ${looked}.`,
    parameterErrors,
  })
}

function notDispatched(id: string): GatewayError {
  return new GatewayError('200.300.404', {
    parameterErrors: [
      {
        name: 'entityId',
        value: id,
        message: 'belongs to a merchant without dispatching rules: send the id of a channel',
      },
    ],
  })
}
