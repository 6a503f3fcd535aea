/** Exceptions of settlement files on the operators' list: one entry for each file or batch and kind. */
import { limits } from '@tollgate/schemas'
import type { Client } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { idTimeMs, lowestIdAt, newId } from '../ids.ts'
import { exactDecimal } from '../money.ts'
import type { Steps } from './steps.ts'
import {
  type BatchRow,
  batchesOf,
  endException,
  exceptionKinds,
  listException,
  listedOf,
  saveBatches,
} from './store-decided.ts'
import { recordsById } from './store-exception.ts'
import { exceptionalRecordView, recordWords } from './view.ts'

/** Batches of one commit. */
const commitBatches = 500

/** Records are made after their file arrived; the clocks of two processes can differ. */
const firstRecordOf = (fileId: string) => lowestIdAt(idTimeMs(fileId) - 2 * limits.idsAheadMs)

type Words = {
  /** The exception's name on the list, where it is not the kind. */
  readonly exception?: string
  readonly expected: string
  readonly came: string
  readonly do: string
}

/** For people: what was expected, what came, and what to do. Other kinds are no exceptions. */
const words: Readonly<Record<string, Words>> = {
  NOT_MATCHED: {
    expected: 'each record names a payment of its merchant',
    came: 'records without a payment',
    do: 'Assign the payment. The engine tries again every hour for 30 days.',
  },
  MULTIPLE_MATCHES: {
    expected: 'each record has one reading',
    came: 'records that several payments fit',
    do: 'Assign the right payments of the candidates. The candidates of a chargeback are not refunded until it is assigned or checked: tollgate settlement check.',
  },
  AMOUNT: {
    expected: 'the amount of the payment',
    came: 'another amount',
    do: 'Compare the amounts with the acquirer.',
  },
  CURRENCY: {
    expected: 'the currency of the payment',
    came: 'another currency',
    do: 'Compare the payment with the acquirer.',
  },
  FX: {
    expected: 'the settled amount follows from the amount and the rate',
    came: 'another settled amount',
    do: 'Ask the acquirer for the rate.',
  },
  FEE: {
    expected: 'a fee below the settled amount',
    came: 'a larger fee',
    do: 'Check the fee with the acquirer.',
  },
  STATE: {
    expected: 'a payment that was approved',
    came: 'a record about a payment that was declined, reversed, of another type or with other references',
    do: 'Ask the acquirer whether money moved.',
  },
  FAILED: {
    exception: 'STATE',
    expected: 'the institute pays out a payment that was approved',
    came: 'a record that reports a failed operation (FAILED), although the payment was approved',
    do: 'Ask the acquirer whether money moved, and why the payment is not paid out.',
  },
  DUPLICATE_SETTLEMENT: {
    expected: 'a payment is settled once',
    came: 'records whose sum exceeds the payment',
    do: 'Ask the acquirer which of them is right.',
  },
  EXTERNAL_REFUND: {
    expected: 'refunds are made here',
    came: 'a refund that was made at the acquirer',
    do: 'Find the person who refunded there, and keep the books equal.',
  },
  EFFECT: {
    expected: 'each record takes effect on its payment',
    came: 'records whose effect failed three times',
    do: 'Look at the log, then run the file again: tollgate settlement rerun. Payments with a chargeback among them are not refunded until it is recorded or this entry is resolved.',
  },
  UNCONFIRMED: {
    expected: 'a chargeback, a failed payment or the end of an open one names its payment',
    came: 'records whose payment follows from amount, card and brand alone; nothing happened to it',
    do: 'Confirm each by tollgate settlement assign: the chargeback is recorded then, or the payment changes.',
  },
  CHANGED: {
    expected: 'a known record comes again with the same content',
    came: 'other content',
    do: 'Ask the acquirer which is right. The first version stands.',
  },
}

/** Writes the entries of a file as they are now, and ends those of which nothing is left. */
export async function listExceptions(
  { lanes }: Pick<Engine, 'lanes'>,
  client: Client,
  file: { readonly id: string; readonly name: string },
): Promise<void> {
  const query = <Row>(statement: Sql<Row>) => lanes.database.query(client, statement)
  const open = new Set((await query(listedOf(file.id))).map(({ reference }) => reference))
  const kinds = await query(exceptionKinds(file.id, firstRecordOf(file.id)))
  const ids = [...new Set(kinds.flatMap(({ records }) => records ?? []))]
  const rows = ids.length === 0 ? [] : await query(recordsById(ids))
  const named = new Map(rows.map((row) => [row.id, recordWords(exceptionalRecordView(row))]))
  for (const { kind, lines, count, entity_id: entityId, failed_at: failedAt, records } of kinds) {
    const known = words[kind]
    if (known === undefined) continue
    const reference = `${kind} ${file.id}`
    open.delete(reference)
    const detail = {
      exception: kind,
      ...{ file: file.id, name: file.name, lines, count, ...known },
      records: (records ?? []).map((id) => named.get(id)!),
      ...(failedAt !== null && { failedAt }),
    }
    await query(listException({ id: newId(), reference, entityId, detail }))
  }
  // Those of the intake, such as unreadable lines, end by hand.
  const ended = [...open].filter((reference) => words[reference.split(' ')[0]!] !== undefined)
  for (const reference of ended) await query(endException(reference))
}

/** Balances the batches of a file, and lists those whose payout differs from their sum. */
export async function controlBatches(
  steps: Steps,
  file: { readonly id: string; readonly name: string },
): Promise<void> {
  const batches = await steps.read(batchesOf(file.id))
  for (let at = 0; at < batches.length; at += commitBatches) {
    const some = batches.slice(at, at + commitBatches)
    await steps.write(async (query) => {
      const saved = await query(saveBatches(some))
      const ids = new Map(saved.map((batch) => [nameOf(batch), batch.id]))
      for (const batch of some) await query(controlEntry(file, batch, ids.get(nameOf(batch))!))
    })
  }
}

const nameOf = ({
  scope_id: scopeId,
  name,
  currency,
}: Pick<BatchRow, 'scope_id' | 'name' | 'currency'>) => JSON.stringify([scopeId, name, currency])

function controlEntry(
  file: { readonly id: string; readonly name: string },
  batch: BatchRow,
  batchId: string,
): Sql {
  const reference = `CONTROL ${batchId}`
  if (batch.is_balanced !== false) return endException(reference)
  return listException({
    id: newId(),
    reference,
    entityId: batch.entity_id,
    detail: {
      exception: 'CONTROL',
      ...{ file: file.id, name: file.name, batch: batch.name },
      expected: `${exactDecimal(batch.expected, batch.currency)} ${batch.currency}: opening, records, less fees, and other lines`,
      came: `${exactDecimal(batch.came, batch.currency)} ${batch.currency}: payout and closing`,
      do: 'Compare the batch with the acquirer. A later file may complete it.',
    },
  })
}
