/** The end of accepted operations: the acquirer fails or confirms them. */
import { defaultSecret } from '../../connectors/simulator/server.ts'
import { keyHeader, merchantHeader } from '../../connectors/simulator/wire.ts'
import { merchantId } from '../rig/installation/installation.ts'
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
      [merchantHeader]: merchantId,
      [keyHeader]: target.key,
    },
    body: '{}',
  })
  await undone.arrayBuffer()
  return say(scene, target, { eventId: `${target.key}-failed`, status: 'declined' })
}

export const confirm = (scene: Scene, target: Target): Promise<0 | 1> =>
  say(scene, target, { eventId: `${target.key}-final`, status: 'approved' })
