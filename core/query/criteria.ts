/** The criteria of a search, in the form of the stores. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { brands, limits, paymentTypeOf, searchMandatory } from '@tollgate/schemas'
import { shortNo } from '../ids.ts'
import { conditionCheck } from '../request/parse.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'

export type Criteria = {
  /** Null: all. */
  readonly types: readonly string[] | null
  /** Brands of the requested payment methods; null: all. */
  readonly brands: readonly string[] | null
  readonly merchantTransactionId: string | null
  /**
   * Number behind a short id, in digits; `none` for a text that is no short id and matches nothing.
   */
  readonly shortNo: string | 'none' | null
  /** Start of the time frame in milliseconds since 1970, inclusive; null without a time frame. */
  readonly fromMs: number | null
  /** End of the time frame, exclusive: the second named by `date.to` is inside. */
  readonly toMs: number | null
}

/** The part of the results that a response holds. */
export type Paging = {
  readonly limit: number
  /** From 1. */
  readonly page: number
  readonly cursor: string | null
}

const checkMandatory = conditionCheck('query.search', searchMandatory)

/** @throws GatewayError 400 naming each field: no criterion, or a time frame that ends before it begins. */
export function criteriaOf(fields: RequestFields): Criteria {
  checkMandatory(fields as never)
  const date = groupOf(fields, 'date')
  const from = textOf(date, 'from')
  const to = textOf(date, 'to')
  const fromMs = from === undefined ? null : momentOf('date.from', from)
  const toMs = to === undefined ? null : momentOf('date.to', to) + 1000
  if (fromMs !== null && toMs !== null && fromMs >= toMs) {
    throw refuse('200.300.404', 'date.from', 'must not be after date.to', from)
  }
  const shortId = textOf(fields, 'shortId')
  return {
    types: typesOf(listOf(textOf(fields, 'paymentTypes'))),
    brands: brandsOf(listOf(textOf(fields, 'paymentMethods'))),
    merchantTransactionId: textOf(fields, 'merchantTransactionId') ?? null,
    shortNo: shortId === undefined ? null : String(shortNo(shortId) ?? 'none'),
    fromMs,
    toMs,
  }
}

export function pagingOf(fields: RequestFields): Paging {
  return {
    limit: Number(textOf(fields, 'limit') ?? limits.queryRows.default),
    page: Number(textOf(fields, 'pageNo') ?? 1),
    cursor: textOf(fields, 'cursor') ?? null,
  }
}

const listOf = (text: string | undefined) =>
  text === undefined ? null : [...new Set(text.split(','))].sort()

/** Unused types are valid criteria and match nothing. */
const typesOf = (codes: readonly string[] | null) =>
  codes?.filter((code) => paymentTypeOf(code) !== undefined) ?? null

/** A payment's method is that of its brand. */
function brandsOf(methods: readonly string[] | null): readonly string[] | null {
  if (methods === null) return null
  return brands.filter(({ method }) => methods.includes(method)).map(({ code }) => code)
}

/** `yyyy-MM-dd HH:mm:ss`, UTC. The format of the field accepts the 31st of every month. */
function momentOf(name: string, text: string): number {
  const ms = Date.parse(`${text.replace(' ', 'T')}Z`)
  const isReal = !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === text.slice(0, 10)
  if (!isReal) throw refuse('200.300.404', name, 'is no day of the calendar', text)
  return ms
}
