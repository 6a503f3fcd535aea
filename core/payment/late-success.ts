/**
 * Money that moved on a payment already answered as declined. It is never dropped: it is on record
 * as a conflict, and the channel's setting `lateSuccess` decides whether it is taken back (`reverse`,
 * the default) or the payment becomes approved after all (`accept`). A payment of a schedule is always
 * taken back: its instant may have been charged again since.
 */
import type { Outcome, Refs } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { addAttention, addAudit, resolveAttention } from '../operator/store.ts'
import { announce, eventOf } from './announce.ts'
import { approvedCode, ownBalance } from './decide.ts'
import { ask } from './send.ts'
import { storable } from './storable.ts'
import { acceptLate } from './store-settle.ts'
import type { Payment, Source } from './types.ts'
import type { Work } from './work.ts'

/** Puts two contradicting words about one payment on record, and acts on a success among them. */
export async function recordConflict(
  engine: Engine,
  payment: Payment,
  work: Work | undefined,
  outcome: Outcome,
  source: Source,
): Promise<void> {
  const refs = 'refs' in outcome ? (outcome.refs ?? {}) : {}
  await engine.lanes.single(
    addAttention(newId(), 'conflict', payment.id, payment.attemptKey, 0, {
      row: payment.state,
      outcome: outcome.is,
      source,
      refs,
    }),
  )
  engine.log.warn(
    { payment: payment.id, row: payment.state, outcome: outcome.is },
    'contradicting outcomes',
  )
  const isSuccess = outcome.is === 'approved' || outcome.is === 'accepted'
  const isOver = payment.state === 'declined' || payment.state === 'expired'
  if (!isSuccess || !isOver || work === undefined) return
  const settings = await engine.directory.settings(payment.channelId)
  const done =
    settings.lateSuccess === 'accept' &&
    payment.scheduleId === null &&
    (await stillStands(engine, work))
      ? await acceptAfterAll(engine, payment, refs)
      : await takeBack(engine, work)
  if (done) await engine.lanes.single(resolveAttention(payment.id, 'conflict', 'engine'))
}

/** What was approved once may have been taken back since: only the acquirer knows. */
async function stillStands(engine: Engine, work: Work): Promise<boolean> {
  const handler = work.target.loaded.connector.resolve.enquire
  if (handler === undefined) return false
  const found = await ask(engine, renewed(engine, work), 'enquire', handler)
  return found.is === 'approved' || found.is === 'accepted'
}

/** The same work with all the time of a new call. */
function renewed(engine: Engine, work: Work): Work {
  const timeoutMs = engine.connectorTimeoutMs
  return {
    ...work,
    deadlineMs: engine.clock.elapsedMs() + timeoutMs,
    sendByWallMs: engine.clock.realMs() + timeoutMs,
  }
}

async function takeBack(engine: Engine, work: Work): Promise<boolean> {
  const handler = work.target.loaded.connector.resolve.reverseByKey
  if (handler === undefined) return false
  const reversed = await ask(engine, renewed(engine, work), 'reverseByKey', handler)
  await engine.lanes.single(
    addAudit(newId(), 'engine', 'reverse-late-success', work.payment.id, { result: reversed.is }),
  )
  return reversed.is === 'reversed' || reversed.is === 'nothing'
}

/** Only first payments: a follow-up's amount may have been given to another one meanwhile. */
async function acceptAfterAll(engine: Engine, payment: Payment, refs: Refs): Promise<boolean> {
  if (payment.parentId !== null) return false
  const balance = ownBalance(payment, payment.effect, payment.amount.minor)
  if (balance === null) return false
  const event = eventOf(newId(), payment, 'approved', approvedCode[payment.mode])
  const [moved] = await engine.lanes.single(
    acceptLate(payment, event.data.code, storable({ ...payment.answer, refs }), balance, {
      id: event.id,
      data: JSON.stringify(event.data),
    }),
  )
  if (moved === undefined) return false
  await engine.lanes.single(
    addAudit(newId(), 'engine', 'accept-late-success', payment.id, { refs }),
  )
  announce(engine, payment, event, moved.seq)
  return true
}
