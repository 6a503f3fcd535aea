/** Settlement details reports in the form of the contract suite. */
import type { Context } from '@tollgate/plugin-kit'
import type { SamplePayment, SettlementSandbox } from '@tollgate/plugin-kit/testing'
import { adyen } from '../../../connectors/adyen/index.ts'
import { reportItem } from '../../../connectors/adyen/sandbox/messages.ts'
import {
  batchLine,
  type Line,
  moneyLine,
  reportOf,
} from '../../../connectors/adyen/sandbox/report.ts'
import { newAccount, settingsOf, startAdyen } from '../../../connectors/adyen/sandbox/sandbox.ts'

const merchantAccount = 'TestMerchant'

function lineOf(payment: SamplePayment, no: number): Line {
  const { date, cashflow, amount, fee, reference, requestedAt } = payment
  const isCredit = cashflow === 'POS'
  return {
    ...moneyLine(
      { merchantAccount, batch: 4, day: date },
      { type: isCredit ? 'Settled' : 'Refunded', gross: amount, isCredit, fee },
    ),
    'Creation Date': requestedAt,
    // A report names payments of others by Adyen's reference alone.
    'Psp Reference': reference,
    'Merchant Reference': reference,
    'Modification Reference': `MOD${no}`,
    'Payment Method': 'visa',
  }
}

const payout = (currency: string): Line =>
  batchLine(
    { merchantAccount, batch: 4, day: '2026-03-31' },
    'MerchantPayout',
    { minor: 1n, currency },
    'TX4XT',
  )

const fileOf = (payments: readonly SamplePayment[]): Buffer =>
  reportOf([...payments.map(lineOf), payout(payments[0]?.amount.currency ?? 'EUR')])

const changed =
  (change: (lines: string[]) => string[]) =>
  (file: Uint8Array): Uint8Array =>
    Buffer.from(change(Buffer.from(file).toString().split('\n')).join('\n'))

/** The line of the first payment. */
const first = (change: (line: string) => string) =>
  changed(([head = '', line = '', ...rest]) => [head, change(line), ...rest])

export const reports: SettlementSandbox = {
  write: fileOf,
  damage: {
    amount: first((line) => line.replace(/,([0-9]+\.?[0-9]*),1,/, ',x$1,1,')),
    type: first((line) => line.replace(/,(Settled|Refunded),/, ',SettledElsewhere,')),
    column: changed((lines) =>
      lines.map((line, at) => (line === '' ? line : `${at === 0 ? 'Reserved4' : 'new'},${line}`)),
    ),
  },
  async open({ records }) {
    const account = newAccount()
    const server = await startAdyen(account)
    const settings = settingsOf(account)
    let batch = 0
    return {
      url: server.url,
      settings: (url) => ({ config: { url: `${url}/v71`, reportUrl: url }, account: settings }),
      async put() {
        batch += 1
        const name = `settlement_detail_report_batch_${batch}.csv`
        const day = '2026-03-31'
        const reference = 'a1b2c3d4e5f60718293a4b5c6d7e8f90'
        const line = moneyLine(
          { merchantAccount, batch, day },
          { type: 'Settled', gross: { minor: 9200n, currency: 'EUR' }, isCredit: true, fee: 12n },
        )
        const paid = {
          ...line,
          'Merchant Reference': reference,
          'Modification Reference': `M${batch}`,
        }
        server.reports.set(name, reportOf([paid, payout('EUR')]))
        const message = server.message(reportItem(name, `${server.url}/ignored/${name}`))
        const log = { info() {}, warn() {} }
        await adyen.inbound!.parse(message, {
          records,
          log,
          account: settings,
        } as unknown as Context)
      },
      close: () => server.close(),
    }
  },
}
