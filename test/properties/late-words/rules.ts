/**
 * The rules for a merchant's payments after any messages in any order. Each rule returns its
 * violation.
 */
import { counted, type Entry, isAsAsked, ofAuthorisation, ofSale, stands } from './books.ts'
import type { Rest, Row } from './rest.ts'
import { shopperRules } from './shopper-rules.ts'

export type Rule = { readonly name: string; readonly broken: (rest: Rest) => string | undefined }

const isSuccess = (code: string) => /^000\.(000|100)\./.test(code)
const isOver = ({ state }: Row) => state === 'declined' || state === 'expired'
const isOpen = ({ state }: Row) =>
  state === 'processing' || state === 'pending' || state === 'unknown'
const isLocal = ({ effect }: Row) => effect.startsWith('chargeback')

/**
 * The operators' list names the excess, or the different amount that the acquirer did not reverse.
 */
const isListedWithAmount = (rest: Rest) =>
  rest.listed.some(({ detail }) => /"[a-z]*minor[a-z]*":/i.test(detail)) ||
  rest.rows.some((row) => {
    const entry = rest.entryOf(row)
    const isOther = entry !== undefined && !isAsAsked(entry)
    return isOther && isOpen(row) && rest.listed.some(({ payment }) => payment === row.id)
  })

/** Whether an operation of the engine's own reversed it. */
const isGivenBack = (rest: Rest, entry: Entry) =>
  rest.entries.some(({ original, kind, ...other }) => {
    const isReversal = original === entry.key && kind === 'reverse'
    return isReversal && (other.state === 'done' || other.state === 'accepted')
  })

export const rules: readonly Rule[] = [
  ...shopperRules,
  {
    name: '1 no more money goes out than came in',
    broken: (rest) =>
      first(rest.sales, (sale) => {
        const { came, went } = ofSale(rest.merchant.world.books, sale)
        if (went <= came || isListedWithAmount(rest)) return
        return `${went} went out of ${sale.kind} ${sale.key}, ${came} came in`
      }),
  },
  {
    name: '1 no more is captured than authorised',
    broken: (rest) =>
      first(rest.entries, (root) => {
        if (root.kind !== 'authorize') return
        const { allowed, used } = ofAuthorisation(rest.merchant.world.books, root)
        const isKnown = !rest.rows.some((row) => rest.isDecidedUntold(row))
        if (used <= allowed || !isKnown || isListedWithAmount(rest)) return
        return `${used} captured or released of ${allowed} authorised by ${root.key}`
      }),
  },
  {
    name: '2 the sums equal those of the payments',
    broken: ({ unbalanced }) => unbalanced[0] && `balance of ${unbalanced.join(', ')}`,
  },
  {
    name: '3 a success remains one, unless an accepted operation fails with an event',
    broken: (rest) =>
      first(rest.answers, ({ id, code, type }) => {
        const row = rest.rows.find((one) => one.id === id)
        if (row === undefined || !isSuccess(code) || !isOver(row)) return
        const entry = rest.entryOf(row)
        const said = rest.words.filter(({ key, verified }) => key === row.key && verified)
        const final = said.find(
          ({ is, minor, currency, processedAt }) =>
            is === 'approved' &&
            minor === String(row.minor) &&
            currency === row.currency &&
            processedAt !== null,
        )
        const late = said.findLast(({ is }) => is === 'declined')
        const failed = said.find(({ is, processedAt }) => is === 'declined' && processedAt !== null)
        const wasFinal =
          final !== undefined &&
          late !== undefined &&
          final.processedAt! < late.receivedAt &&
          !(failed !== undefined && failed.processedAt! < final.processedAt!)
        if (wasFinal) return `${type} ${id} was final, and is ${row.state}`
        if (entry?.hasFailed !== true && entry?.state !== 'returned' && !rest.isListed(row)) {
          return `${type} ${id} was a success, and is ${row.state}; the books: ${entry?.state}`
        }
        if (!rest.told.get(id)?.some((kind) => /declined|expired/.test(kind))) {
          return `${type} ${id} is ${row.state}, and no event told it`
        }
      }),
  },
  {
    name: '3 a two-step payment is approved only with its sale',
    broken: (rest) =>
      first(rest.answers, ({ id, type }) => {
        const row = rest.rows.find((one) => one.id === id)
        if (type !== 'PA.CP' || row?.state !== 'approved' || !isSuccess(row.code)) return
        const root = row.effect === 'capture' ? row.parent : row.id
        const captures = rest.rows.filter((one) => one.effect === 'capture' && one.parent === root)
        const isSold = captures.some((one) => {
          const entry = rest.entryOf(one)
          return entry !== undefined && stands(entry)
        })
        if (isSold || captures.some(rest.isListed) || rest.isListed(row)) return
        return `PA.CP ${id} says ${row.code}, and nothing was captured`
      }),
  },
  {
    name: '3 a payment that is safe to retry was not done',
    broken: (rest) => {
      const safe = new Set(rest.answers.flatMap(({ id, isRetrySafe }) => (isRetrySafe ? [id] : [])))
      return first(rest.rows, (row) => {
        const entry = rest.entryOf(row)
        if (!row.isRetrySafe && !safe.has(row.id)) return
        if (entry === undefined || !stands(entry) || row.state === 'approved') return
        if (isGivenBack(rest, entry)) return
        if (rest.isListed(row)) return
        return `${row.type} ${row.id} is retrySafe, and ${counted(entry)} moved`
      })
    },
  },
  {
    name: "4 contradictions of the acquirer's books are on the operators' list",
    broken: (rest) =>
      first(rest.rows, (row) => {
        if (isLocal(row) || rest.isListed(row)) return
        const entry = rest.entryOf(row)
        const isDone = entry !== undefined && stands(entry)
        const said = `${row.type} ${row.id} is ${row.state} (${row.code}), the books say ${entry?.state ?? 'nothing'}`
        if (isOpen(row)) return said
        const mayStand =
          rest.isDecidedUntold(row) || (entry !== undefined && isGivenBack(rest, entry))
        if (isOver(row)) return isDone && !mayStand ? said : undefined
        if (!isDone) return said
        const { moved, times } = entry
        const isSame =
          moved.minor === (row.approved ?? row.minor) && moved.currency === row.currency
        return isSame && times === 1
          ? undefined
          : `${said} ${times} x ${moved.minor} ${moved.currency}`
      }),
  },
  {
    name: '5 every chargeback is recorded once, or waits',
    broken: (rest) =>
      first(rest.sales, (sale) => {
        const row = rest.rowOf(sale.key)
        const told = rest.disputes.filter(({ key }) => key === sale.key)
        if (row === undefined) return
        const records = rest.rows.filter(
          (one) => one.type === 'CB' && one.referenced === row.id && one.state === 'approved',
        )
        const left = records.map(({ minor }) => minor)
        const unrecorded = told.filter(({ amount }) => {
          const at = left.indexOf(amount.minor)
          if (at >= 0) left.splice(at, 1)
          return at < 0
        })
        // A repeat under another id, after the reversal, looks like the next round of its case: it is listed.
        const asRounds = rest.listed.filter(
          ({ detail }) =>
            detail.includes('a chargeback that was reversed came again') &&
            told.some(({ reference }) => detail.includes(reference)),
        )
        if (left.length > asRounds.length)
          return `${records.length} records of ${told.length} chargebacks of ${row.id}`
        const isKept = ({ eventId, reference }: (typeof told)[number]) =>
          rest.listed.some(
            ({ detail }) => detail.includes(eventId) || detail.includes(reference),
          ) ||
          rest.words.some(
            (word) => word.eventId === eventId && word.verified && word.processedAt === null,
          )
        const lost = unrecorded.filter((dispute) => !isKept(dispute))
        if (lost.length === 0) return
        return `${lost.length} of ${told.length} chargebacks of ${row.type} ${row.id} are nowhere`
      }),
  },
  {
    name: '7 nothing fails through a fault of the gateway',
    broken: ({ merchant }) => merchant.faults[0],
  },
  {
    name: '7 every message is processed, or waits for the end of an open payment',
    broken: ({ words, rowOf }) => {
      const open = words.find(({ processedAt, is, key }) => {
        const row = rowOf(key)
        const mayWait = is.startsWith('chargeback') && row !== undefined && isOpen(row)
        return processedAt === null && !mayWait
      })
      return open && `message ${open.eventId} (${open.is}) is still open`
    },
  },
  {
    name: '7 a request answered with a retry was not done',
    broken: (rest) =>
      first(rest.merchant.sendAgain, (reference) => {
        if (rest.answers.some((answer) => answer.reference === reference)) return
        const done = rest.entries.find((entry) => entry.reference === reference && stands(entry))
        const row = done && rest.rowOf(done.key)
        if (done === undefined || (row !== undefined && rest.isListed(row))) return
        return `${done.kind} ${done.key} was answered 503, and done`
      }),
  },
]

/** The first answer that is not undefined. */
function first<T>(list: Iterable<T>, ask: (one: T) => string | undefined): string | undefined {
  for (const one of list) {
    const answer = ask(one)
    if (answer !== undefined) return answer
  }
  return undefined
}
