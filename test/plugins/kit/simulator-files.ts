/** The settlement files of the simulated acquirer in the form of the contract suite. */
import type { SamplePayment, SettlementSandbox } from '@tollgate/plugin-kit/testing'
import { startSimulator } from '../../../connectors/simulator/server.ts'
import { fileOf, type RecordLine } from '../../../connectors/simulator/settlement/format.ts'

const secret = 'simulator-secret-of-a-test'
const account = { merchantId: 'shop-1', secret }
const dayMs = 24 * 60 * 60_000

const lineOf = (payment: SamplePayment): RecordLine => ({
  recordType: 'SETTLED',
  transactionType: payment.cashflow === 'POS' ? 'DEBIT' : 'REFUND',
  cashflow: payment.cashflow,
  status: 'SUCCESS',
  amount: payment.amount,
  settled: payment.amount,
  fee: payment.fee,
  about: {
    Date: payment.date,
    Ordered: payment.requestedAt,
    Key: payment.reference,
    Reference: payment.reference,
    Last4: payment.cardNumber.slice(-4),
  },
})

const changed =
  (change: (text: string) => string) =>
  (file: Uint8Array): Uint8Array =>
    Buffer.from(change(Buffer.from(file).toString()))

const changedLines = (change: (line: string, at: number) => string) =>
  changed((text) =>
    text
      .split('\n')
      .map((line, at) => (line === '' ? line : change(line, at)))
      .join('\n'),
  )

/** A column before the others, filled by the payments. The lines of file and end have no columns. */
export const withColumn = (name: string, cell: (at: number) => string) =>
  changedLines((line, at) => {
    if (at === 0 || line.startsWith('END')) return line
    return `${at === 1 ? name : cell(at - 2)};${line}`
  })

export const simulatorFiles: SettlementSandbox = {
  account,
  write: (payments) => {
    const head = { merchant: account.merchantId, day: '2026-03-30', date: '2026-03-31' }
    return Buffer.from(fileOf(head, payments.map(lineOf)))
  },
  damage: {
    amount: changedLines((line, at) => (at === 2 ? line.replace(/[0-9]+\.[0-9]+/, '9z.00') : line)),
    type: changedLines((line, at) => (at === 2 ? line.replace('SETTLED', 'LOAN') : line)),
    column: withColumn('New', () => 'new'),
    count: changed((text) =>
      text.replace(/END;([0-9]+)/, (_, count) => `END;${Number(count) + 1}`),
    ),
    total: changed((text) => text.replace(/(END;.*=)/, '$11')),
  },
  async open({ clock }) {
    clock.ms = Date.UTC(2030, 0, 1)
    const server = await startSimulator({ secret })
    let sent = 0
    return {
      url: server.url,
      settings: (url) => ({ config: { url }, account }),
      async put() {
        sent += 1
        const answer = await fetch(`${server.url}/operations`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${secret}`,
            'x-merchant-id': account.merchantId,
            'idempotency-key': `payment-${sent}`,
          },
          body: JSON.stringify({
            kind: 'debit',
            paymentId: `payment-${sent}`,
            amount: { minor: '9200', currency: 'EUR' },
            at: clock.ms,
          }),
        })
        if (!answer.ok) throw new Error(`the simulator answered ${answer.status}`)
        clock.ms += dayMs
      },
      close: () => server.close(),
    }
  },
}
