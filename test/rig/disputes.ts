/** What tests of chargebacks share: what an acquirer tells of them, and what became of it. */
import { until } from './gateway.ts'
import { eur, type LateRun } from './late-words.ts'

/** Words of an acquirer's events. */
export const chargeback = { is: 'chargeback', reason: '000.100.220', refs: { dispute: 'd' } }
export const reversal = { is: 'chargebackReversal', refs: {} }

/** The refusal of a refund while payers' banks hold the money, or an operator has to look. */
export const waits = { code: '700.300.600' }

/** @param runOf The engine, once the test has started it. */
export const disputesOf = (runOf: () => LateRun) => ({
  /** A debit of 92.00 EUR; answers its id. */
  debit: async (reference: string, fields: Record<string, unknown> = {}) =>
    (await runOf().debit(reference, {}, fields)).id,
  charge: (id: string, reference: string, minor = '9200', currency = 'EUR') =>
    runOf().tell(id, { outcome: chargeback, reference, minor, currency }),
  giveBack: (id: string, reference: string, minor = '9200', currency = 'EUR') =>
    runOf().tell(id, { outcome: reversal, reference, minor, currency }),
  refund: (id: string, amount = '1.00') => runOf().gateway.payments.refund(id, eur(amount)),
  /** What its balance says was charged back. */
  chargedBack: async (id: string) => {
    const [row] = await runOf().sql<{ charged_back: bigint }>(
      'select charged_back from tollgate.payment_balance where payment_id = $1',
      [id],
    )
    return row?.charged_back
  },
  /** The records of chargebacks or of reversals that refer to a payment, oldest first. */
  records: (id: string, type: 'CB' | 'CR') =>
    runOf().sql<{ id: string; amount_minor: bigint }>(
      `select id, amount_minor from tollgate.payment
        where referenced_id = $1 and payment_type = $2 order by id`,
      [id, type],
    ),
  /** Why the payment is on the operators' list. */
  whys: async (id: string) =>
    (await runOf().listed(id)).filter(({ open }) => open).map(({ detail }) => detail.why),
  /** An operator ends every entry of the payment. */
  endAll: async (id: string) => {
    const by = { by: 'alice', reason: 'agreed with the bank' }
    for (const entry of await runOf().listed(id)) {
      if (entry.open) await runOf().gateway.operator.resolve(entry.id, by)
    }
  },
  /** Resolves when a message was worked on and has to wait. */
  hasWaited: (eventId: string) =>
    until(async () => {
      const [row] = await runOf().sql<{ waits: number }>(
        'select waits from tollgate.inbound_event where event_id = $1',
        [eventId],
      )
      return row!.waits > 0 ? true : undefined
    }),
  /** A message that waits is worked on at once. */
  turnNow: (eventId: string) =>
    runOf().sql('update tollgate.inbound_event set next_at = now() where event_id = $1', [eventId]),
  /** A message looks as if it had come three days ago. */
  aged: (eventId: string) =>
    runOf().sql(
      `update tollgate.inbound_event set received_at = received_at - interval '73 hours',
         next_at = now() where event_id = $1`,
      [eventId],
    ),
})
