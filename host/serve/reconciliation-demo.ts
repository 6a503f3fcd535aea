/** Payments on their way through a settlement file, with a line for every step. */
import type { Gateway } from '@tollgate/core'
import type { Credentials } from './demo.ts'
import { type Answer, type DemoClient, demoClient, told } from './demo-client.ts'

/** What the shoppers buy: each sale settles in its own way. */
const sales = [
  { amount: '92.00', card: '4200000000000000', what: 'an ordinary sale' },
  { amount: '50.00', card: '4000000000005423', what: 'will settle one cent too low' },
  { amount: '20.92', card: '4200000000000000', what: 'will settle twice' },
  { amount: '30.94', card: '4200000000000000', what: 'will not be paid out' },
  { amount: '15.95', card: '4200000000000000', what: 'will settle without any id' },
  { amount: '10.91', card: '4200000000000000', what: 'will not settle' },
  { amount: '40.00', card: '4000000000000259', what: 'will be charged back' },
] as const

const currency = 'EUR'

/** @throws Error for an unexpected response. */
export async function reconciliationDemo(
  gateway: Gateway,
  credentials: Credentials,
  print: (line: string) => void,
): Promise<void> {
  const client = demoClient(credentials)
  const { call, advance } = client
  print('Payments on their way through a settlement file.\n')
  const clock = await call('POST', '/v1/testclocks', { name: 'demo', time: '2027-03-01 12:00:00' })
  print(
    `1. A test clock, so that days pass in a moment: POST /v1/testclocks\n   it is ${clock.now}`,
  )

  print('\n2. Shoppers pay: POST /v1/payments')
  const names = new Map<string, string>()
  for (const sale of sales) {
    const paid = await pay(client, clock.id, sale)
    names.set(paid.id, sale.what)
    print(
      `   ${cell(`${sale.amount} ${currency}`, 11)} ${paid.result.code}  payment ${paid.id}  ${sale.what}`,
    )
    if (names.size > 1) continue
    const refund = { paymentType: 'RF', amount: '12.00', currency }
    const refunded = await call('POST', `/v1/payments/${paid.id}`, refund)
    names.set(refunded.id, 'its refund')
    print(`   ${cell('12.00 EUR', 11)} ${refunded.result.code}  payment ${refunded.id}  its refund`)
  }

  const { now } = await advance(clock.id, 'P1D')
  print(
    `\n3. The day is over, it is ${now}. The institute sends its settlement file, and Tollgate finds the`,
  )
  print('   payment of each line: GET /reports/v1/reconciliations/aggregations')
  await printPayouts(client, clock.id, names, '2027-03-02', print)

  print('   Operators see which records need a check: tollgate settlement exceptions')

  const later = await advance(clock.id, 'P4D')
  print(`\n4. Days pass, it is ${later.now}. A shopper's bank took its money back.`)
  await printPayouts(client, clock.id, names, '2027-03-05', print)
  const [charged = ''] = [...names].find(([, what]) => what === sales.at(-1)!.what) ?? []
  const linked = await call('GET', `/v1/query/${charged}`, { includeLinkedTransactions: 'true' })
  const chargeback = (linked.payments as Answer[]).find(({ paymentType }) => paymentType === 'CB')
  if (chargeback === undefined) throw new Error('the chargeback was not recorded')
  print(`   payment ${charged} has a chargeback: GET /v1/query/{id}?includeLinkedTransactions=true`)
  print(
    `   CB ${String(chargeback.amount)} ${currency}  ${told(chargeback)}  payment ${chargeback.id}`,
  )

  print('\n5. The reports for the accountants: GET /reports/v1/reconciliations/files/{id}')
  print('   Files are made for merchants, so reading them takes a token of the merchant:')
  await printReports(gateway, credentials.entityId, clock.id, print)
}

function pay(
  { call }: DemoClient,
  testClock: string,
  { amount, card }: (typeof sales)[number],
): Promise<Answer> {
  return call('POST', '/v1/payments', {
    amount,
    currency,
    testClock,
    paymentType: 'DB',
    'card.number': card,
    'card.holder': 'Jane Jones',
    'card.expiryMonth': '05',
    'card.expiryYear': '2034',
    'card.cvv': '123',
  })
}

type Payout = {
  readonly id: string
  readonly testClock?: string
  readonly status: string
  readonly fees: readonly { readonly kind: string; readonly amount: string }[]
  readonly [sum: string]: unknown
}

type SettledRecord = {
  readonly recordType: string
  readonly transactionType: string
  readonly amount: string
  readonly settlement: { readonly cashflow: string; readonly status: string; readonly fee?: string }
  readonly matchedTransactions: {
    readonly status: string
    readonly payment?: readonly { readonly id: string }[]
  }
  readonly discrepancies?: readonly string[]
}

async function printPayouts(
  { call }: DemoClient,
  clockId: string,
  names: ReadonlyMap<string, string>,
  day: string,
  print: (line: string) => void,
): Promise<void> {
  const days = { 'date.from': day, 'date.to': day, currency }
  const { aggregations } = await call('GET', '/reports/v1/reconciliations/aggregations', days)
  const [payout] = (aggregations as Payout[]).filter(({ testClock }) => testClock === clockId)
  if (payout === undefined) throw new Error(`there is no payout of ${day}`)
  const { records } = await call('GET', `/reports/v1/reconciliations/aggregations/${payout.id}`)
  for (const record of records as SettledRecord[]) {
    const { settlement, matchedTransactions: found, discrepancies = [] } = record
    const [payment] = found.payment ?? []
    print(
      [
        `   ${cell(`${record.recordType} ${record.transactionType}`, 17)}`,
        `${settlement.cashflow === 'NEG' ? '-' : ' '}${cell(record.amount, 6)}`,
        `fee ${cell(settlement.fee ?? '', 5)} ${cell(settlement.status, 7)}`,
        cell(`${found.status} ${discrepancies.join(' ')}`, 28),
        payment === undefined ? '' : (names.get(payment.id) ?? payment.id),
      ].join('  '),
    )
  }
  printSums(payout, day, print)
}

/** The formula of docs/reconciliation.md with its values. */
function printSums(payout: Payout, day: string, print: (line: string) => void): void {
  const term = (name: string) =>
    typeof payout[name] === 'string' ? `${name} ${payout[name]}` : `${name} none`
  const fees = payout.fees.map(({ kind, amount }) => `${kind} ${amount}`)
  print(`   The payout of ${day} is ${payout.status}:`)
  print(`     ${['opening', 'gross', 'refunds', 'chargebacks', 'reversals'].map(term).join(' + ')}`)
  print(`     + fees ${fees.length === 0 ? 'none' : `(${fees.join(' + ')})`}`)
  print(`     + ${['tax', 'reserve', 'adjustments'].map(term).join(' + ')}`)
  print(`     = ${term('net')} + ${term('closing')}`)
  print(`     The institute reports: ${term('payout')}`)
}

async function printReports(
  { entities, reports }: Gateway,
  channelId: string,
  clockId: string,
  print: (line: string) => void,
): Promise<void> {
  // What a running worker does a minute after new records, by the test clock.
  const merchantId = (await entities.get(channelId))?.parent_id
  if (merchantId == null) throw new Error('the demo channel has no merchant')
  print(`   tollgate token create --entity ${merchantId} --name accountant --rights read`)
  await reports.cut({ entityId: merchantId })
  const { files } = await reports.files({ entityId: merchantId })
  const own = files.filter(({ testClock }) => testClock === clockId).reverse()
  if (own.length === 0) throw new Error('there is no report file')
  for (const { id, name } of own) {
    print(`\n   ${name}`)
    const chunks: Uint8Array[] = []
    for await (const chunk of (await reports.file(id)).open()) chunks.push(chunk)
    print(Buffer.concat(chunks).toString().trimEnd())
  }
}

const cell = (text: string, width: number): string => text.padEnd(width)
