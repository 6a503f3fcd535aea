/**
 * The simulator's settlement with one mistake at a time, as real ones have them. Beside each are the cases that must
 * notice it.
 */
import type {
  Connector,
  DayEntry,
  RemoteFile,
  Settlement,
  SettlementItem,
  SettlementRecord,
} from '@tollgate/plugin-kit'
import type { SettlementSandbox } from '@tollgate/plugin-kit/testing'
import { simulatorHttp } from '../../../connectors/simulator/http-connector.ts'
import { createSimulator } from '../../../connectors/simulator/index.ts'
import { simulatorFiles, withColumn } from './simulator-files.ts'
import { withToken } from './token-context.ts'

export type WrongSettlement = {
  /** The mistake, as the rest of "a connector that …". */
  readonly what: string
  readonly connector: Connector
  /** Names of the cases that must fail. */
  readonly noticed: readonly string[]
  readonly sandbox?: SettlementSandbox
}

type Bytes = AsyncIterable<Uint8Array>
type Items = AsyncIterable<SettlementItem>
type Fetch = NonNullable<Settlement['fetch']>

/** Both parts of the simulator: the files of its server, and those of simulated days. */
const right = {
  ...simulatorHttp.settlement!,
  writeDay: createSimulator().settlement!.writeDay!,
} satisfies Settlement

export const rightSettlement: Connector = { ...simulatorHttp, settlement: right }

const rightFetch: Fetch = (cursor, context) => right.fetch!(cursor, context)

const but = (parts: Partial<Settlement>): Connector => ({
  ...simulatorHttp,
  settlement: { ...right, ...parts },
})
const parsing = (parse: (bytes: Bytes) => Items): Connector => but({ parse })
/** Reads other bytes than came. */
const reading = (change: (chunk: Buffer) => Uint8Array): Connector =>
  parsing((bytes) =>
    right.parse(
      (async function* () {
        for await (const chunk of bytes) yield change(Buffer.from(chunk))
      })(),
    ),
  )
const fetching = (fetch: Fetch): Connector => but({ fetch })

/** The secret of the simulator as an access token. */
export const fetchingBy = (drops: boolean): Connector =>
  fetching(async function* (cursor, context) {
    yield* rightFetch(cursor, await withToken(context, drops))
  })

type WriteDay = NonNullable<Settlement['writeDay']>
const writing = (writeDay: WriteDay): Connector => but({ writeDay })

let settledEntries = 0

/** Every entry changed, or left out. */
const entries = (change: (entry: DayEntry) => DayEntry | undefined): Connector =>
  writing((day, given) =>
    right.writeDay(
      day,
      (async function* () {
        for await (const entry of given) {
          const changed = change(entry)
          if (changed !== undefined) yield changed
        }
      })(),
    ),
  )

/** Every element changed, or left out. */
const items = (change: (item: SettlementItem) => SettlementItem | undefined): Connector =>
  parsing(async function* (bytes) {
    for await (const item of right.parse(bytes)) {
      const changed = change(item)
      if (changed !== undefined) yield changed
    }
  })
const records = (change: (record: SettlementRecord) => Partial<SettlementRecord>): Connector =>
  items((item) => (item.is === 'record' ? { ...item, ...change(item) } : item))

/** Every file changed, with its number. */
const files = (change: (file: RemoteFile, at: number) => Partial<RemoteFile>): Connector =>
  fetching(async function* (cursor, context) {
    let at = 0
    for await (const file of rightFetch(cursor, context)) {
      yield { ...file, ...change(file, at) }
      at += 1
    }
  })

async function collected<T>(from: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of from) all.push(one)
  return all
}
async function* given<T>(all: readonly T[]): AsyncGenerator<T> {
  yield* all
}

const names = {
  declaration: 'the declaration of the settlement is complete',
  pure: 'the same bytes give the same elements, at any time and after any other file',
  division: 'any division of the bytes gives the same elements',
  streams: 'the first records come before the file ends, however long it is',
  amounts: 'amounts are gross, in minor units by the exponent of the currency',
  merchant: 'the merchant number of a record is that of its account',
  direction: 'sales are POS, refunds are NEG, and no amount is negative',
  references: 'references are texts, exactly as they came',
  days: 'days and times stay those of the institute',
  card: 'no value shows more than four digits of a card number',
  text: 'text is the line as it came',
  column: 'a new column changes nothing',
  ends: 'line ends, a byte-order mark and a missing last line end change no element',
  spelt:
    'a file in another encoding, with other separators or compressed is refused, or read the same',
  cut: 'a file that is cut off anywhere is refused, or has lost nothing',
  count: 'a trailer with another count is refused',
  total: 'a trailer with another sum is refused',
  type: 'a line of an unknown type is reported, and all others are read',
  bad: 'a line that cannot be read is bad, and all others are read',
  foreign: 'bytes that are no file of the format are refused',
  order: 'fetched files are complete files of the account, oldest first',
  cursor: 'a fetch continues behind its cursor, and yields nothing twice',
  repeat: 'a repeated fetch yields the same files, byte for byte',
  fault: 'a fault of the line never passes as a file or as no file',
  secrets: 'no name, cursor, record or log of a fetch contains credentials',
} as const

/** Counts on, whatever is read. */
const counter = { last: 0, next: () => String(++counter.last) }

/** Files with the whole number of a card in a column. */
const withCards: SettlementSandbox = {
  ...simulatorFiles,
  write: (payments) =>
    withColumn('Card', (at) => payments[at]?.cardNumber ?? '')(simulatorFiles.write(payments)),
}
const cardIn = (text: string) => text.split(';')[0] ?? ''

export const wrongSettlements: readonly WrongSettlement[] = [
  {
    what: 'keeps a token that the institute forgot',
    connector: fetchingBy(false),
    noticed: ['a token that the institute forgot costs one fetch at most'],
  },
  {
    what: 'has no name of its format',
    connector: but({ format: '' }),
    noticed: [names.declaration],
  },
  {
    what: 'writes its zone as an offset that nobody knows',
    connector: but({ zone: 'CET+1' }),
    noticed: [names.declaration],
  },
  {
    what: 'names another setting than the merchant number of the files',
    connector: but({ merchantOf: () => 'terminal-1' }),
    noticed: [names.merchant],
  },
  {
    what: 'takes every line for one of the same merchant',
    connector: records(() => ({ merchantNumber: 'shop-0' })),
    noticed: [names.merchant],
  },
  {
    what: 'numbers the records of all files',
    connector: records(() => ({ settlementId: counter.next() })),
    noticed: [names.pure, names.division],
  },
  {
    what: 'takes the time of parsing for the time of the order',
    connector: records(() => ({
      requestedAt: new Date().toISOString().slice(0, 19).replace('T', ' '),
    })),
    noticed: [names.pure, names.days],
  },
  {
    what: 'takes a chunk for a number of lines',
    connector: parsing(async function* (bytes) {
      const lines = (await collected(bytes)).map((chunk) =>
        Buffer.from(chunk.at(-1) === 10 ? chunk : [...chunk, 10]),
      )
      yield* right.parse(given(lines))
    }),
    noticed: [names.division],
  },
  {
    what: 'reads the whole file into memory',
    connector: parsing(async function* (bytes) {
      const copies: Buffer[] = []
      for await (const chunk of bytes) copies.push(Buffer.from(chunk))
      yield* right.parse(given(copies))
    }),
    noticed: [names.streams],
  },
  {
    what: 'takes every currency for one with two decimals',
    connector: records(({ amount, settled }) => {
      const factor = { JPY: 100n, KWD: 1n }[amount.currency as 'JPY'] ?? 1n
      const scaled = (money: typeof amount) => ({ ...money, minor: money.minor * factor })
      return { amount: scaled(amount), settled: scaled(settled) }
    }),
    noticed: [names.amounts],
  },
  {
    what: 'reports what is left after the fee',
    connector: records(({ settled, fee = 0n }) => ({
      settled: { ...settled, minor: settled.minor > fee ? settled.minor - fee : 0n },
    })),
    noticed: [names.amounts],
  },
  {
    what: 'reads fees in whole units',
    connector: records(({ fee = 0n }) => ({ fee: fee / 100n })),
    noticed: [names.amounts],
  },
  {
    what: 'takes refunds for sales',
    connector: records(() => ({ transactionType: 'DEBIT', cashflow: 'POS' })),
    noticed: [names.direction],
  },
  {
    what: 'writes refunds as negative amounts',
    connector: records(({ cashflow, amount }) =>
      cashflow === 'POS' ? {} : { amount: { ...amount, minor: -amount.minor } },
    ),
    noticed: [names.direction],
  },
  {
    what: 'reads references as numbers',
    connector: records(({ key = '' }) => {
      const read = Number.isNaN(Number(key)) ? key : String(Number(key))
      return { key: read, refs: [read] }
    }),
    noticed: [names.references],
  },
  {
    what: 'folds references to lower case',
    connector: records(({ key = '' }) => ({ key: key.toLowerCase(), refs: [key.toLowerCase()] })),
    noticed: [names.references],
  },
  {
    what: 'moves days to another zone',
    connector: records(({ date }) => ({
      date: new Date(Date.parse(`${date}T00:00:00+02:00`)).toISOString().slice(0, 10),
    })),
    noticed: [names.days],
  },
  {
    what: 'moves times to another zone',
    connector: records(({ requestedAt = '' }) => ({
      requestedAt: new Date(Date.parse(`${requestedAt.replace(' ', 'T')}+02:00`))
        .toISOString()
        .slice(0, 19)
        .replace('T', ' '),
    })),
    noticed: [names.days],
  },
  {
    what: 'shows the first digits of cards',
    connector: records(({ text }) => ({ descriptor: `card ${cardIn(text).slice(0, 12)}` })),
    noticed: [names.card],
    sandbox: withCards,
  },
  {
    what: 'quotes a line that it cannot read',
    connector: parsing(async function* (bytes) {
      const copies: Buffer[] = []
      for await (const chunk of bytes) copies.push(Buffer.from(chunk))
      const lines = Buffer.concat(copies).toString().split('\n')
      for await (const item of right.parse(given(copies))) {
        yield item.is === 'bad' ? { ...item, why: `wrong: ${lines[item.line - 1]}` } : item
      }
    }),
    noticed: [names.card],
    sandbox: withCards,
  },
  {
    what: 'forgets the line as it came',
    connector: records(() => ({ text: '' })),
    noticed: [names.text],
  },
  {
    what: 'writes a line of its own',
    connector: records(({ key, amount }) => ({ text: `${key} ${amount.minor}` })),
    noticed: [names.text],
  },
  {
    what: 'reads its columns by position',
    connector: records(({ text }) => ({ settlementId: text.split(';')[7] ?? '' })),
    noticed: [names.column],
  },
  {
    what: 'ends lines at LF alone',
    connector: reading((chunk) => chunk.map((byte) => (byte === 13 ? 32 : byte))),
    noticed: [names.ends],
  },
  {
    what: 'reads every encoding as Latin-1',
    connector: reading((chunk) => Buffer.from(chunk.toString('latin1'))),
    noticed: [names.ends, names.spelt],
  },
  {
    what: 'takes the end of the bytes for the end of the file',
    connector: parsing(async function* (bytes) {
      let isOver = false
      for await (const item of right.parse(bytes)) {
        if (item.is === 'end') isOver = true
        yield item
      }
      if (!isOver) yield { is: 'end' }
    }),
    noticed: [names.cut, names.foreign],
  },
  {
    what: 'ignores the count of the trailer',
    connector: items((item) =>
      item.is === 'end' && item.totals !== undefined ? { is: 'end', totals: item.totals } : item,
    ),
    noticed: [names.count],
  },
  {
    what: 'ignores the sums of the trailer',
    connector: items((item) =>
      item.is === 'end' && item.count !== undefined ? { is: 'end', count: item.count } : item,
    ),
    noticed: [names.total],
  },
  {
    what: 'leaves out lines of unknown types',
    connector: items((item) => (item.is === 'other' ? undefined : item)),
    noticed: [names.type],
  },
  {
    what: 'cannot read lines of unknown types',
    connector: items((item) =>
      item.is === 'other' ? { is: 'bad', line: item.line, why: 'unknown type' } : item,
    ),
    noticed: [names.type],
  },
  {
    what: 'leaves out lines that it cannot read',
    connector: items((item) => (item.is === 'bad' ? undefined : item)),
    noticed: [names.bad],
  },
  {
    what: 'throws at a line that it cannot read',
    connector: items((item) => {
      if (item.is === 'bad') throw new Error(item.why)
      return item
    }),
    noticed: [names.bad],
  },
  {
    what: 'takes an empty file for a complete one',
    connector: parsing(async function* (bytes) {
      let count = 0
      for await (const item of right.parse(bytes)) {
        count += 1
        yield item
      }
      if (count === 0) yield { is: 'end' }
    }),
    noticed: [names.foreign],
  },
  {
    what: 'fetches the newest file first',
    connector: fetching(async function* (cursor, context) {
      yield* (await collected(rightFetch(cursor, context))).reverse()
    }),
    noticed: [names.order, names.cursor],
  },
  {
    what: 'fetches the newest file alone',
    connector: fetching(async function* (cursor, context) {
      yield* (await collected(rightFetch(cursor, context))).slice(-1)
    }),
    noticed: [names.order],
  },
  {
    what: 'has another number for its account than its files have',
    connector: but({ merchantOf: () => 'another' }),
    noticed: [names.order],
  },
  {
    what: 'fetches all files every time',
    connector: fetching((_cursor, context) => rightFetch(undefined, context)),
    noticed: [names.cursor],
  },
  {
    what: 'fetches the last file once more',
    connector: fetching(async function* (cursor, context) {
      for await (const file of rightFetch(cursor, context)) {
        yield file
        yield file
      }
    }),
    noticed: [names.order, names.cursor],
  },
  {
    what: 'names all files alike',
    connector: files(() => ({ name: 'settlement.csv' })),
    noticed: [names.cursor],
  },
  {
    what: 'writes the moment of the fetch into the file',
    connector: files(({ open }) => ({
      open: async () =>
        given([...(await collected(await open())), Buffer.from(`#${counter.next()}\n`)]),
    })),
    noticed: [names.repeat],
  },
  {
    what: 'takes a failed fetch for no files',
    connector: fetching(async function* (cursor, context) {
      try {
        yield* rightFetch(cursor, context)
      } catch {
        // The mistake: a fault looks like an institute without files.
      }
    }),
    noticed: [names.fault],
  },
  {
    what: 'names its files by its credentials',
    connector: fetching(async function* (cursor, context) {
      for await (const file of rightFetch(cursor, context)) {
        yield { ...file, name: `${context.account.secret}/${file.name}` }
      }
    }),
    noticed: [names.secrets],
  },
  {
    what: 'logs its credentials while it fetches',
    connector: fetching((cursor, context) => {
      context.log.info({ secret: String(context.account.secret) }, 'fetching')
      return rightFetch(cursor, context)
    }),
    noticed: [names.secrets],
  },
  {
    what: 'calls a fetch a movement of money',
    connector: fetching((cursor, context) => {
      context.sending()
      return rightFetch(cursor, context)
    }),
    noticed: [names.order, names.repeat],
  },
  {
    what: 'leaves refunds out of a simulated day',
    connector: entries((entry) => (entry.payment.kind === 'refund' ? undefined : entry)),
    noticed: ['the file of a simulated day is complete, and has a line for every payment'],
  },
  {
    what: 'numbers the entries of all simulated days',
    connector: entries((entry) => {
      settledEntries += 1
      return { ...entry, payment: { ...entry.payment, descriptor: `no. ${settledEntries}` } }
    }),
    noticed: ['the same entries give the same bytes, at once and after another day'],
  },
  {
    what: 'writes every simulated day as the same one',
    connector: writing((day, given) => right.writeDay({ ...day, day: '2026-03-30' }, given)),
    noticed: ['another day has another reference, and other ids of records'],
  },
  {
    what: 'forgets the carried balance on a simulated day without entries',
    connector: writing((day, given) => right.writeDay({ ...day, carried: {} }, given)),
    noticed: ['a day without entries has no file, and carries what was carried'],
  },
  {
    what: 'leaves the reference of a dispute out of a simulated file',
    connector: entries(({ reference: _none, ...entry }) => entry),
    noticed: [
      'lines of a dispute name the disputed payment, and have the reference and reason of the dispute',
    ],
  },
  {
    what: 'collects the entries of a simulated day',
    connector: writing(async function* (day, given) {
      const all = await collected(given)
      return yield* right.writeDay(
        day,
        (async function* () {
          yield* all
        })(),
      )
    }),
    noticed: ['the first bytes of a long day come before its last entries'],
  },
]
