/** Compares the merchants' answers with the stored rows. */
import { type Answer, isApproved, isPending, isWord, type Try, type Wish } from './client.ts'
import type { Evidence, PaymentRow } from './evidence.ts'

type Told = Try & { readonly answer: Answer }

const wordsOf = ({ tries }: Wish): Told[] =>
  tries.filter((made): made is Told => isWord(made.answer))

/** Possible records of a wish: two steps and their reversals for a two-step payment. */
const recordsOf = ({ type }: Wish): readonly string[] =>
  type === 'PA.CP' ? ['PA', 'CP', 'RV'] : [type]

const byReference = ({ payments }: Pick<Evidence, 'payments'>) =>
  Map.groupBy(payments, ({ reference }) => reference ?? '')

/** The readable ids: every payment, and captures that have an id and no row yet. */
function readable({ payments }: Evidence): readonly PaymentRow[] {
  const ids = new Set(payments.map(({ id }) => id))
  return [
    ...payments,
    ...payments.flatMap((row) =>
      row.chainId === null || ids.has(row.chainId)
        ? []
        : [{ ...row, id: row.chainId, type: 'CP', effect: 'capture' }],
    ),
  ]
}

export function onePayment(evidence: Evidence): string[] {
  const payments = byReference(evidence)
  return evidence.history.flatMap((wish) => {
    const rows = payments.get(wish.reference) ?? []
    const byType = Map.groupBy(rows, ({ type }) => type)
    return [...byType].flatMap(([type, found]) => {
      if (!recordsOf(wish).includes(type)) return [`${wish.reference} made a ${type}`]
      return found.length === 1 ? [] : [`${wish.reference} made ${found.length} of type ${type}`]
    })
  })
}

export function answersHaveRows(evidence: Evidence): string[] {
  const payments = byReference({ payments: readable(evidence) })
  return evidence.history.flatMap((wish) => {
    const rows = payments.get(wish.reference) ?? []
    return wordsOf(wish).flatMap(({ answer, host }) => {
      const promised = isApproved(answer.code) || isPending(answer.code)
      const row = rows.find(({ id }) => id === answer.id)
      if (row !== undefined) {
        const stored = (Number(row.approvedMinor ?? row.minor) / 100).toFixed(2)
        const isSame = row.hasRequest && answer.type === row.type && answer.amount === stored
        return isSame
          ? []
          : [
              `${host} answered ${wish.reference} with ${answer.type} ${answer.amount}, stored is ${row.type} ${stored}`,
            ]
      }
      return promised
        ? [`${host} answered ${wish.reference} with ${answer.code} and ${answer.id}`]
        : []
    })
  })
}

export function answersAgree(evidence: Evidence): string[] {
  const rows = new Map(readable(evidence).map((row) => [row.id, row]))
  return evidence.history.flatMap((wish) =>
    wordsOf(wish).flatMap((told) => {
      const row = rows.get(told.answer.id)
      if (row === undefined || isPending(told.answer.code)) return []
      const final = isApproved(told.answer.code) ? ['approved'] : ['declined', 'expired']
      return final.includes(row.state) ? [] : [contradiction(wish, told, row)]
    }),
  )
}

const contradiction = ({ reference }: Wish, { host, answer }: Told, row: PaymentRow) =>
  `${host} answered ${reference} with ${answer.code}, and it is ${row.state} with ${row.code}`

/**
 * An answer about the payment beside a refusal that denies it. A merchant can be refused first and
 * accepted later, never the other way round.
 */
export function oneAnswer(evidence: Evidence): string[] {
  const payments = byReference({ payments: readable(evidence) })
  return evidence.history.flatMap((wish) => {
    const words = wordsOf(wish)
    const rows = new Set((payments.get(wish.reference) ?? []).map(({ id }) => id))
    const about = words.filter(({ answer }) => rows.has(answer.id))
    const refused = words.filter(({ answer }) => !rows.has(answer.id))
    const ids = new Set(about.map(({ answer }) => answer.id))
    const lateRefusal = refused.find((one) => about.some(({ endedMs }) => endedMs <= one.startedMs))
    const isSilent = wish.tries.every((made) => isWord(made.answer))
    return [
      ...(ids.size > 1 ? [`${wish.reference} was answered with ${[...ids].join(' and ')}`] : []),
      ...(lateRefusal === undefined
        ? []
        : [`${wish.reference} was accepted, then refused with ${lateRefusal.answer.code}`]),
      ...(isSilent && rows.size > 0 && words.length > 0 && about.length === 0
        ? [`${wish.reference} was always refused, but has a payment`]
        : []),
    ]
  })
}
