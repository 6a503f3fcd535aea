/** Derives steps from rows: the parts that all kinds of resources share. */
import { resultDescription } from '@tollgate/schemas'
import { attentionText } from '../attention/text.ts'
import { exactDecimal, shownAmount } from '../money.ts'
import type { TranscriptEntry } from '../net/http.ts'
import type { PaymentJob } from '../queue/types.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import { hidden, isSecretName } from '../redaction/scrub.ts'
import type { ReadStepRow } from '../transcript/store.ts'
import type { Audience, Step } from '../transcript/types.ts'
import type {
  AttentionHistoryRow,
  AuditRow,
  BriefPaymentRow,
  EventRow,
  ReceivedRow,
  SettlementRow,
  WaitingRow,
} from './store-read.ts'

/** `{ refs: { id: '7' } }` -> `{ 'refs.id': '7' }`, without values whose names stand for secrets. */
export function flat(value: unknown, name = ''): Record<string, string> {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object') {
    const last = name.slice(name.lastIndexOf('.') + 1)
    return { [name]: isSecretName(last) ? hidden : maskCardNumbers(String(value)) }
  }
  return Object.assign(
    {},
    ...Object.entries(value).map(([key, inner]) =>
      flat(inner, name === '' ? key : `${name}.${key}`),
    ),
  )
}

export const inWords = (code: string) => `${code} ${resultDescription(code)}`

export const wordsOf = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

export function briefOf(row: BriefPaymentRow): string {
  const amount =
    row.payment_type === 'RG'
      ? ''
      : ` ${shownAmount(row.amount_minor, row.currency)} ${row.currency}`
  return `${row.payment_type}${amount}: ${row.state}, ${inWords(row.result_code)}`
}

/** A record of a settlement file that is about the payment. */
export function settlementOf(row: SettlementRow): Step {
  const { id, at, record_type: type, status, currency } = row
  // A line that was not paid out settles nothing of the payment.
  const isPart = type === 'SETTLED' && status !== 'FAILED'
  const minor = isPart ? row.allocated_minor : row.amount_minor
  const number = row.settlement_id === null ? '' : `, number ${row.settlement_id}`
  const doubt = row.is_final ? '' : ', which may be about another payment'
  return {
    at,
    name: 'settlement',
    text: `${type} ${exactDecimal(minor, currency)} ${currency} on ${row.day}, payout ${row.batch}${number}${doubt}`,
    outcome: status,
    about: id,
  }
}

/**
 * A call of the acquirer, or a repeated request.
 *
 * @param money What an operation was for. `plainAnswer`: what the payment's row keeps of its answer.
 */
export function exchangeOf(
  row: ReadStepRow,
  money: string,
  plainAnswer: Readonly<Record<string, string>>,
  audience: Audience,
): Step {
  const { detail } = row
  if (row.name === 'repeated') {
    const times = detail?.times ?? 1
    const often = times === 1 ? '' : ` ${times} times`
    return {
      at: row.at,
      name: row.name,
      text: `the same request came again${often} and got this payment`,
    }
  }
  const { why, ...facts } = detail?.said ?? {}
  // Errors in a connector's code, and their places, do not leave the installation.
  const isTold = audience === 'operator' || detail?.thrown === undefined
  const said = detail?.said === undefined ? plainAnswer : flat(isTold ? detail.said : facts)
  const thrown = isTold ? detail?.thrown : undefined
  const notes = [
    ...(detail?.late === true ? ['after its time was over'] : []),
    ...(detail?.sent === false ? ['nothing that moves money was sent'] : []),
    ...(thrown === undefined
      ? []
      : [
          `the connector threw ${thrown.kind}${thrown.place === undefined ? '' : ` at ${thrown.place}`}`,
        ]),
    ...(detail?.lease === undefined || detail.lease === 1 ? [] : [`under lease ${detail.lease}`]),
  ]
  const answered = wordsOf(said)
  const parts = [money, answered].filter((part) => part !== '')
  return {
    at: row.at,
    name: row.name,
    ...(row.outcome === null ? {} : { outcome: row.outcome }),
    text: [...parts, ...notes].join('; '),
    ...(row.duration_us === null ? {} : { durationUs: Number(row.duration_us) }),
    ...(answered === '' ? {} : { answered: said }),
    ...(detail?.requests === undefined
      ? {}
      : { requests: detail.requests as readonly TranscriptEntry[] }),
  }
}

/** @param currency Of the payment. */
export function attentionOf(row: AttentionHistoryRow, currency: string): Step {
  const facts = attentionText(row.detail, currency)
  return {
    at: row.at,
    name: 'attention',
    outcome: row.kind,
    text: [`on the operators' list`, ...(facts === '' ? [] : [facts])].join(': '),
    about: row.id,
  }
}

export function resolvedOf(row: AttentionHistoryRow, audience: Audience): Step[] {
  if (row.resolved_at === null) return []
  const by = row.resolved_by ?? 'engine'
  return [
    {
      at: row.resolved_at,
      name: 'attention-resolved',
      outcome: row.kind,
      text: `off the operators' list`,
      about: row.id,
      by: by === 'engine' || audience === 'operator' ? by : 'operator',
    },
  ]
}

export function decisionOf(row: AuditRow, audience: Audience): Step {
  // Old rows have no kind, only the name.
  const isEngine =
    row.actor_kind === 'engine' || (row.actor_kind === 'unknown' && row.actor === 'engine')
  const { reason, onBehalfOf, ...rest } = row.detail
  const facts = wordsOf(flat(rest))
  const said = audience === 'operator' && typeof reason === 'string' ? `"${reason}"` : ''
  return {
    at: row.at,
    name: 'decision',
    outcome: row.action,
    text: [facts, said].filter((part) => part !== '').join('; '),
    by: isEngine || audience === 'operator' ? row.actor : 'operator',
  }
}

export function receivedOf(row: ReceivedRow): Step {
  const { claim } = row
  const outcome = flat(claim.outcome)
  const proof = claim.verified ? '' : ', not proven to be the acquirer’s'
  const amount = /^[0-9]+$/.test(claim.minor)
    ? ` for ${exactDecimal(BigInt(claim.minor), claim.currency)} ${claim.currency}`
    : ''
  return {
    at: row.received_at,
    name: 'acquirer-event',
    outcome: row.outcome ?? 'waiting',
    text: `the acquirer told ${claim.outcome.is}${amount}${proof} (event ${row.event_id})`,
    answered: outcome,
  }
}

const meanings: Readonly<Record<string, string>> = {
  look: 'the acquirer is asked again',
  expire: 'it expires unless it ends before',
  continue: 'its next step is taken if it is not by then',
  execution: 'the charge is looked at again',
  resubmit: 'the declined charge is repeated',
  expiring: 'its expiry is announced',
  'schedule-end': 'its end is told',
}

export function waitingOf(row: WaitingRow): Step {
  const clock = row.clock_id === null ? '' : ', by its test clock'
  return {
    at: row.due_at,
    name: 'waits',
    outcome: row.kind,
    text: `${meanings[row.kind] ?? row.kind}${clock}`,
  }
}

export function jobStep(job: PaymentJob): Step {
  const tries = job.retries === 0 ? '' : `, ${job.retries} retries`
  const { startedAt, endedAt } = job
  return {
    at: job.createdAt,
    name: 'job',
    outcome: job.isDead ? 'dead' : job.state,
    text: job.isDead
      ? `${job.job}: ran out of tries; tollgate payment redrive queues it again`
      : `${job.job}: ${job.state}${tries}`,
    ...(startedAt === null || endedAt === null
      ? {}
      : { durationUs: 1000 * Math.max(0, endedAt.getTime() - startedAt.getTime()) }),
  }
}

export function followUpOf(row: BriefPaymentRow, at: Date): Step {
  return { at, name: 'follow-up', outcome: row.state, text: briefOf(row), about: row.id }
}

export function changeOf(event: EventRow): Step {
  const { then: _state, ...data } = event.data
  const facts = wordsOf(flat(data))
  return { at: event.at, name: 'changed', outcome: event.type, text: facts }
}
