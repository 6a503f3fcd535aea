/** Words of the acquirer that come while something else is under way, on a line that holds single statements back. */
import assert from 'node:assert/strict'
import { unknown } from '@tollgate/plugin-kit'
import { newId } from '../../core/index.ts'
import { closeChecked } from './books.ts'
import { until } from './gateway.ts'
import { eur, type LateRun, lose, startLateThroughLine, withoutKeyReversal } from './late-words.ts'
import type { Line } from './proxy.ts'

export const by = { by: 'alice', reason: 'seen in their portal' }
export const busy = () => unknown('busy')
/** The refusal of everything that a chargeback holds. */
export const waitsForOthers = { code: '700.300.600' }

export const chargeback = (minor: string) => ({
  outcome: { is: 'chargeback', reason: '000.100.220', refs: {} },
  reference: `chargeback-${newId()}`,
  minor,
})

/** The acquirer knows keys for a day; at the entity `by-operation`, it reverses none by its key. */
export async function startToldMeanwhile(): Promise<{
  readonly run: LateRun
  readonly line: Line
  close(): Promise<void>
}> {
  const { run, line } = await startLateThroughLine(
    { 'by-operation': withoutKeyReversal },
    { supports: { key: { by: 'key', ttlMs: 24 * 3_600_000 } } },
  )
  const close = () => closeChecked(run).finally(() => line.close())
  return { run, line, close }
}

/** The name of the only statement like this, by which a line holds it back. */
export function named(run: LateRun, like: RegExp): string {
  const found = run.gateway.statements().filter(({ text }) => like.test(text))
  assert.equal(found.length, 1, `one statement is like ${like}`)
  return found[0]!.name
}

/** A chargeback is stored, and waits for the end of an operation; the engine does not try it by itself. */
export async function waiting(run: LateRun, id: string, minor: string): Promise<string> {
  const eventId = await run.bring(id, chargeback(minor))
  await until(async () => {
    const [row] = await run.sql(
      `update tollgate.inbound_event set next_at = now() + interval '1 hour'
        where event_id = $1 and waits > 0 returning event_id`,
      [eventId],
    )
    return row
  })
  return eventId
}

/** While this capture may succeed, a chargeback by the key of the authorisation waits. */
export async function openCapture(run: LateRun, id: string) {
  const script = { capture: lose, enquire: busy }
  const open = await run.follow(id, 'CP', `open-${newId()}`, eur('20.00'), script)
  await run.dueLater(open.id)
  return open
}

/** The work that was due met something, and comes again later. */
export async function isPutOff(run: LateRun, id: string): Promise<boolean> {
  const rows = await run.sql(
    `select from tollgate.timer where due_at > now() + interval '0.5 seconds' and
      ref in ($1::text, (select attempt_key from tollgate.payment where id = $1::text::uuid))`,
    [id],
  )
  return rows.length > 0
}

export async function decline(run: LateRun, { id }: { readonly id: string }): Promise<void> {
  await run.operator.enquire(id, by)
  await run.operator.settle(id, 'declined', by)
}
