/** Records of settlement files that need a person, and payments that no file has settled. */
import {
  csvRow,
  type ExceptionalRecordView,
  type Gateway,
  type UnsettledPaymentView,
} from '@tollgate/core'
import type { Shell } from '../shell.ts'
import {
  type Command,
  type Given,
  jsonOption,
  needed,
  print,
  printList,
  UsageError,
} from './command.ts'
import { byOption, decidedBy, reasonOption } from './decide.ts'
import { harmless, shownTime } from './shown-text.ts'
import { found, withInstallation } from './with-installation.ts'

export const limitOption = (noun: string) => ({
  type: 'string' as const,
  value: 'number',
  meaning: `Maximum number of ${noun}. Default: 100.`,
})

/** @throws UsageError */
export function limitOf(text = '100'): number {
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit
  throw new UsageError('--limit must be a whole number from 1 to 1000')
}

const csvOption = {
  csv: { type: 'boolean', meaning: 'Print CSV for a spreadsheet, as report files have it.' },
} as const

/** One list, as CSV by the names of its columns, as JSON, or for a terminal. */
function printRows<Item>(
  given: Given,
  shell: Shell,
  items: readonly Item[],
  shown: {
    readonly none: string
    readonly cells: (item: Item) => readonly string[]
    readonly csv: (item: Item) => Readonly<Record<string, string>>
    readonly head: readonly string[]
  },
): void {
  if (!given.flags.has('csv')) {
    printList(given, shell, items, { cells: shown.cells, none: shown.none })
    return
  }
  shell.stdout.write(csvRow(shown.head))
  for (const item of items) {
    const row = shown.csv(item)
    shell.stdout.write(csvRow(shown.head.map((name) => row[name] ?? '')))
  }
}

const exceptions: Command = {
  name: 'settlement exceptions',
  summary:
    'List records to check: those that fit no payment, or several, or that differ from their payment. Newest first.',
  options: {
    file: { type: 'string', value: 'id', meaning: 'Only records of this settlement file.' },
    limit: limitOption('records'),
    ...csvOption,
    ...jsonOption,
  },
  notes:
    'Each line has the id of the record, the payments that it may be about, what their amounts came to, and what the record reports. FAILED: the institute does not pay out the amount. UNCONFIRMED: only amount, card and brand name the payment, so the record changes nothing before you assign it. tollgate settlement assign gives the record to its payments; tollgate settlement check takes it off the list.',
  async run(given, shell) {
    const limit = limitOf(given.options.limit)
    const { file } = given.options
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const records = await gateway.settlement.exceptions({
        limit,
        ...(file !== undefined && { fileId: file }),
      })
      const none = 'there is no record to check'
      printRows(given, shell, records, {
        none,
        cells: recordCells,
        csv: recordRow,
        head: recordHead,
      })
      return 0
    })
  },
}

const shownCandidates = 3

const reasonsOf = (record: ExceptionalRecordView): string =>
  [
    record.matchStatus ?? '',
    ...record.discrepancies,
    ...(record.isUnconfirmed === true ? ['UNCONFIRMED'] : []),
    ...(record.isFailed === true ? ['EFFECT'] : []),
  ]
    .join(' ')
    .trim()

const reported = ({ cashflow, amount }: ExceptionalRecordView): string =>
  `${cashflow === 'NEG' ? '-' : ''}${amount}`

function recordCells(record: ExceptionalRecordView): string[] {
  const { candidates, candidateCount, expected } = record
  const shown = candidates.slice(0, shownCandidates).join(', ')
  const more = candidateCount - Math.min(candidates.length, shownCandidates)
  return [
    record.id,
    `${record.settlementDate} line ${record.line}`,
    `${record.recordType} ${record.transactionType}`,
    `reported ${reported(record)} ${record.currency}${record.status === 'FAILED' ? ' as FAILED' : ''}`,
    reasonsOf(record),
    expected === undefined ? '' : `expected ${expected}`,
    harmless(record.merchantTransactionId ?? ''),
    candidateCount === 0 ? '' : `candidates ${shown}${more > 0 ? ` and ${more} more` : ''}`,
  ]
}

const recordHead = [
  ...['RecordId', 'File', 'Line', 'SettlementDate', 'ReconciliationType', 'PaymentType', 'Check'],
  ...['MerchantTransactionId', 'UniqueID', 'Expected', 'ExpectedCurrency', 'Reported', 'Currency'],
  'SettlementStatus',
]

function recordRow(record: ExceptionalRecordView): Record<string, string> {
  const [expected = '', currency = ''] = record.expected?.split(' ') ?? []
  return {
    RecordId: record.id,
    File: record.fileName,
    Line: String(record.line),
    SettlementDate: record.settlementDate,
    ReconciliationType: record.recordType,
    PaymentType: record.transactionType,
    Check: reasonsOf(record),
    MerchantTransactionId: record.merchantTransactionId ?? '',
    UniqueID: record.candidates.join(','),
    Expected: expected,
    ExpectedCurrency: currency,
    Reported: record.amount,
    Currency: record.currency,
    SettlementStatus: record.status,
  }
}

const unsettled: Command = {
  name: 'settlement unsettled',
  summary: 'List approved payments that no settlement record has paid out, oldest first.',
  options: {
    from: {
      type: 'string',
      value: 'day',
      meaning: 'First day, such as 2026-03-01, in UTC.',
      isRequired: true,
    },
    to: { type: 'string', value: 'day', meaning: 'Last day.', isRequired: true },
    after: { type: 'string', value: 'id', meaning: 'Go on after this payment.' },
    limit: limitOption('payments'),
    ...csvOption,
    ...jsonOption,
  },
  notes:
    'Without preauthorisations, wholly reversed payments, and payments of connectors that read no settlement files. Institutes settle some days later, so leave out the last days.',
  async run(given, shell) {
    const [from, to] = [dayOf(given, 'from'), dayOf(given, 'to')]
    to.setUTCDate(to.getUTCDate() + 1)
    const { after } = given.options
    const wanted = {
      from,
      to,
      limit: limitOf(given.options.limit),
      ...(after !== undefined && { after }),
    }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const payments = await gateway.settlement.unsettled(wanted)
      const none = 'every payment of these days is settled'
      printRows(given, shell, payments, {
        none,
        cells: paymentCells,
        csv: paymentRow,
        head: paymentHead,
      })
      return 0
    })
  },
}

/** @throws UsageError */
function dayOf(given: Given, name: string): Date {
  const text = needed(given, name)
  const day = new Date(`${text}T00:00:00Z`)
  if (/^\d{4}-\d\d-\d\d$/.test(text) && day.toJSON()?.startsWith(text)) return day
  throw new UsageError(`--${name} must be a day such as 2026-03-01`)
}

const paymentHead = [
  ...['UniqueID', 'ShortId', 'MerchantTransactionId', 'PaymentType', 'TxRequestTime', 'Amount'],
  ...['Currency', 'Channel', 'Connector', 'Mode'],
]

const paymentRow = (payment: UnsettledPaymentView): Record<string, string> => ({
  UniqueID: payment.id,
  ShortId: payment.shortId,
  MerchantTransactionId: payment.merchantTransactionId ?? '',
  PaymentType: payment.paymentType,
  TxRequestTime: payment.createdAt,
  Amount: payment.amount,
  Currency: payment.currency,
  Channel: payment.channel,
  Connector: payment.connector,
  Mode: payment.mode,
})

const paymentCells = (payment: UnsettledPaymentView): string[] => [
  payment.id,
  shownTime(payment.createdAt),
  payment.paymentType,
  `${payment.amount} ${payment.currency}`,
  harmless(payment.merchantTransactionId ?? ''),
  payment.connector,
]

const assign: Command = {
  name: 'settlement assign',
  summary: 'Give a record to its payments, for good.',
  words: ['<record>', '<payment>…'],
  options: { ...reasonOption, ...byOption },
  async run(given, shell) {
    const [record = '', ...payments] = given.words
    const decided = decidedBy(given)
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const ids = await Promise.all(payments.map((one) => idOf(gateway, one)))
      await gateway.settlement.assign(record, ids, decided)
      print(shell, `record ${record} is about ${ids.join(', ')}`)
      return 0
    })
  },
}

/** The payment that a number names, as tollgate inspect finds it. @throws UsageError */
async function idOf(gateway: Gateway, number: string): Promise<string> {
  if (/^[0-9a-f]{32}$/.test(number)) return number
  const named = await found(`there is no payment ${number}`, gateway.inspect(number))
  if ('candidates' in named) {
    const listed = named.candidates.map(({ id, text }) => `${id} (${text})`).join(', ')
    throw new UsageError(`several payments have ${number}. Give the id of one: ${listed}`)
  }
  if (named.kind !== 'payment') throw new UsageError(`${number} is a ${named.kind}, and no payment`)
  return named.id
}

const check: Command = {
  name: 'settlement check',
  summary: 'Mark a record as checked: it leaves the list of exceptions.',
  words: ['<record>'],
  options: { ...reasonOption, ...byOption },
  notes:
    'Changes neither the record nor its payment. A record that a later file or a later match changes is listed again.',
  async run(given, shell) {
    const [record = ''] = given.words
    const decided = decidedBy(given)
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const { matchStatus, discrepancies } = await gateway.settlement.check(record, decided)
      print(shell, `record ${record} is checked: ${[matchStatus, ...discrepancies].join(' ')}`)
      return 0
    })
  },
}

export const recordCommands: readonly Command[] = [exceptions, unsettled, check, assign]
