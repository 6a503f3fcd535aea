/** Notifications about a resource: every attempt, and every waiting delivery. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { inOrder, type Step } from '../transcript/types.ts'
import { flat } from './derive.ts'
import { type DeliveryRow, deliveriesOf } from './store-read.ts'

/**
 * @param maySee Whether the caller acts for the entity of an endpoint. The caller does not see endpoints
 * of the entities above.
 */
export async function notificationSteps(
  engine: Pick<Engine, 'lanes'>,
  resource: string,
  maySee: (entityId: string) => Promise<boolean>,
): Promise<Step[]> {
  const rows = await engine.lanes.read(deliveriesOf(resource, limits.shownSteps))
  const owners = [...new Set(rows.map(({ entity_id }) => entity_id))]
  const seen = new Map(await Promise.all(owners.map(async (id) => [id, await maySee(id)] as const)))
  return rows.filter(({ entity_id }) => seen.get(entity_id) === true).flatMap(stepsOfDelivery)
}

/** The attempts of one notification, then its state. */
export function stepsOfDelivery(row: DeliveryRow): Step[] {
  const told = `${row.kind} to ${row.url}`
  const about = row.id
  const tries = row.tries.map(({ at, durationMs, status, error, request, answer }): Step => {
    const isTaken = status !== null && status >= 200 && status < 300
    const said = status === null ? `no answer (${error ?? ''})` : `HTTP ${status}`
    return {
      at: new Date(at),
      name: 'notification',
      outcome: isTaken ? 'taken' : 'failed',
      text: `${told}: ${said}${row.replay ? ', sent again on request' : ''}`,
      about,
      durationUs: durationMs * 1000,
      sent: flat(request),
      ...(answer === null ? {} : { answered: { body: answer } }),
    }
  })
  if (row.state === 'pending') {
    const text = `${told}: try ${row.attempts + 1} is due`
    return [...tries, { at: row.due_at, name: 'waits', outcome: 'notification', text, about }]
  }
  if (row.state !== 'dead') return inOrder(tries)
  const text = `${told}: given up, ${row.reason ?? ''}`
  const given = { at: row.ended_at ?? row.due_at, name: 'notification', outcome: 'given-up', text }
  return [...tries, { ...given, about }]
}
