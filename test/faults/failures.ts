/** The end of accepted operations: the acquirer fails or confirms them. */
import { setTimeout as pause } from 'node:timers/promises'
import { defaultSecret } from '../../connectors/simulator/server.ts'
import { keyHeader, merchantHeader } from '../../connectors/simulator/wire.ts'
import type { Scene } from './injections.ts'
import { say, type Target } from './telling.ts'

/**
 * The acquirer undoes the operation in its own books unless follow-ups depend on it; then only the
 * oracle's books record the failure. Its event follows.
 */
export async function fail(scene: Scene, target: Target): Promise<0 | 1> {
  const { sql, acquirer } = scene.ground
  await sql('insert into oracle.failure (key, payment_id) values ($1, $2) on conflict do nothing', [
    target.key,
    target.id,
  ])
  const undone = await fetch(`${acquirer.url}/reversals`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${defaultSecret}`,
      'content-type': 'application/json',
      [merchantHeader]: await acquirer.merchantOf(target.key),
      [keyHeader]: target.key,
    },
    body: '{}',
  })
  await undone.arrayBuffer()
  return say(scene, target, { eventId: `${target.key}-failed`, status: 'declined' })
}

const undosEveryMs = 1_000

/** The engine waits as long as its own reversal of a late success may fail, so the acquirer confirms them. */
export async function confirmUndosUntil(scene: Scene, end: Promise<unknown>): Promise<void> {
  const isOver = end.then(
    () => true,
    () => true,
  )
  do {
    const undos = await scene.ground.sql<Target>(
      `select id, attempt_key as key, amount_minor as minor, state, effect, channel_id as channel
       from tollgate.payment
       where effect = 'undo' and state = 'approved' and final_by is not null`,
    )
    for (const undo of undos) await confirm(scene, undo)
  } while (!(await Promise.race([isOver, pause(undosEveryMs, false)])))
}

export const confirm = (scene: Scene, target: Target): Promise<0 | 1> =>
  say(scene, target, { eventId: `${target.key}-final`, status: 'approved' })
