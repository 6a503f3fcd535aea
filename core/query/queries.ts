/** The searches, for embedders and for the hosted surface alike. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId } from '../ids.ts'
import { asCapture, captureToCome } from '../payment/capture-to-come.ts'
import { leftOfChargebacks } from '../payment/dispute-fact.ts'
import { balancesByIds, toBalance } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'
import { textOf } from '../request/values.ts'
import { criteriaOf, pagingOf } from './criteria.ts'
import { formatCursor, parseCursor } from './cursor.ts'
import { loadPayments, type Transactions, withLinked } from './linked.ts'
import { gather, gatherLinked } from './page.ts'
import { count, newest } from './page-scan.ts'
import type { Channels, Scope } from './scope.ts'
import { newestFirst, type Place } from './sort-key.ts'
import { recordsById } from './store.ts'
import type { Entry, Listed } from './view.ts'

/**
 * One page of results, newest first. `isCounted`: with the number of pages.
 *
 * @throws GatewayError 400 naming each wrong field; 404 700.400.580 without results, also beyond
 * the last page.
 */
export async function search(
  engine: Engine,
  caller: Caller,
  fields: RequestFields,
  isCounted: boolean,
): Promise<Listed> {
  const criteria = criteriaOf(fields)
  const { limit, page, cursor: sent } = pagingOf(fields)
  const cursor = sent === null ? null : parseCursor(sent, criteria)
  const visible = await engine.directory.visible(caller, textOf(fields, 'entityId'))
  const scope: Scope = {
    channels: channelsOf(visible),
    channelCount: visible?.length ?? 1,
    criteria,
    merchant: await engine.directory.merchantBehind(caller),
    hasClocks: engine.environment === 'test',
  }
  const before = (page - 1) * limit
  if (criteria.shortNo === 'none' || criteria.types?.length === 0) throw nothingFound()
  const { found, total } = await newest(engine, {
    scope,
    after: cursor?.after ?? null,
    wanted: before + limit + 1,
    spanMs: cursor?.spanMs,
  })
  const shown = found.slice(before, before + limit)
  if (shown.length === 0) throw nothingFound()
  const gathers = isLinked(fields) ? gatherLinked : gather
  const gathered = await gathers({ engine, visible, channels: scope.channels }, shown)
  const entries = await entriesOf(engine, gathered)
  const last = shown[gathered.count - 1]!
  const isEnd = found.length <= before + limit
  const isLast = isEnd && gathered.count === shown.length
  const isWhole = isCounted && cursor === null
  const most = limits.queryPages * limit
  const all = isEnd ? before + shown.length : total
  const pages = isWhole
    ? Math.ceil(Math.min(most, all ?? (await count(engine, scope, most))) / limit)
    : undefined
  return {
    entries,
    ...(pages === undefined ? {} : { pages }),
    ...(isLast
      ? {}
      : {
          nextCursor: formatCursor(
            { after: last, spanMs: total === undefined ? spanOf(shown, found) : 0 },
            criteria,
          ),
        }),
  }
}

/** Length of a page's time window with a margin: the next page needs about the same. */
function spanOf(shown: readonly Place[], found: readonly Place[]): number {
  const newestMs = shown[0]!.atMs
  return Math.max(1, Math.ceil((newestMs - found.at(-1)!.atMs) * 1.25))
}

/**
 * One transaction by its id; with `includeLinkedTransactions`, also all linked transactions, newest
 * first.
 *
 * @throws GatewayError 404 700.400.580 when the caller sees no transaction with this id.
 */
export async function getTransactions(
  engine: Engine,
  caller: Caller,
  id: string,
  fields: RequestFields,
): Promise<readonly Entry[]> {
  const visible = await engine.directory.visible(caller, textOf(fields, 'entityId'))
  const channels = channelsOf(visible)
  const [stored] = await loadPayments(engine, [id], visible)
  const toCome =
    stored === undefined && isId(id) ? await captureToCome(engine, id, visible) : undefined
  const payment = toCome === undefined ? stored : asCapture(toCome.authorisation)
  const [record] =
    payment !== undefined || !isId(id) ? [] : await engine.lanes.read(recordsById([id], channels))
  if (payment === undefined && record === undefined) throw nothingFound()
  const found: Transactions = {
    payments: new Map(payment === undefined ? [] : [[id, payment]]),
    records: new Map(record === undefined ? [] : [[id, record]]),
  }
  return entriesOf(
    engine,
    isLinked(fields) ? await withLinked(engine, found, visible, channels) : found,
  )
}

export const isLinked = (fields: RequestFields) =>
  textOf(fields, 'includeLinkedTransactions') === 'true'

const nothingFound = () => new GatewayError('700.400.580', { status: 404 })

async function entriesOf(
  engine: Engine,
  { payments, records }: Transactions,
): Promise<readonly Entry[]> {
  const approved = [...payments.values()].filter(({ state }) => state === 'approved')
  const ids = [...new Set(approved.map(balanceIdOf))]
  const rows = ids.length === 0 ? [] : await engine.lanes.read(balancesByIds(ids))
  const balances = new Map(rows.map((row) => [row.payment_id, toBalance(row)]))
  const chargebacks = approved.filter(({ effect }) => effect === 'chargeback').map(({ id }) => id)
  const left = await leftOfChargebacks(engine, chargebacks)
  const balanceOf = (payment: Payment) => {
    const balance = payment.state === 'approved' ? balances.get(balanceIdOf(payment)) : undefined
    if (balance === undefined || payment.effect !== 'chargeback') return balance
    return { ...balance, chargedBack: left.get(payment.id) ?? 0n }
  }
  const placed: (Place & { readonly entry: Entry })[] = [
    ...[...payments.values()].map((payment) => ({
      atMs: payment.createdAt.getTime(),
      id: payment.id,
      entry: { payment, balance: balanceOf(payment) },
    })),
    ...[...records.values()].map((record) => ({
      atMs: record.created_at.getTime(),
      id: record.id,
      entry: { record },
    })),
  ]
  return placed.sort(newestFirst).map(({ entry }) => entry)
}

/** A payment outside of the sums has no balance. */
const balanceIdOf = ({ id, effect, parentId, rootId }: Payment) =>
  effect === 'chargeback' ? (parentId ?? id) : rootId

const texts = new WeakMap<readonly string[], string>()

/** The list in the form of Postgres. Sorted, so that no scan has to sort ten thousand channels. */
function channelsOf(visible: readonly string[] | null): Channels {
  if (visible === null) return null
  const known = texts.get(visible)
  if (known !== undefined) return known
  const text = `{${[...visible].sort().join()}}`
  texts.set(visible, text)
  return text
}
