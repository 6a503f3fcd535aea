/** What counted as done and ends: the acquirer fails it after all, or says that it is final. */
import { defaultSecret } from '../../connectors/simulator/server.ts'
import { keyHeader, merchantHeader } from '../../connectors/simulator/wire.ts'
import { merchantId } from '../rig/installation/installation.ts'
import type { Scene } from './injections.ts'
import { say, type Target } from './telling.ts'

/**
 * The acquirer undoes it in its own books where nothing builds on it; where something does, the
 * oracle's books alone know that it stands no more. Then it says so.
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
