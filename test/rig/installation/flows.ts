/** One wish of every kind on separate payments, for interruptions. */
import type { Address, Client, Wish } from './client.ts'
import type { Visit } from './fault-plan.ts'
import type { Ground } from './ground.ts'
import type { Host } from './host.ts'

/** Amount of the two-step payment that passes its first step and is interrupted in its second. */
const secondStepMinor = 7_700

export const isSecondStep = ({ type, minor }: Pick<Wish, 'type' | 'minor'>): boolean =>
  type === 'PA.CP' && minor === secondStepMinor

/** DB, PA, CP, RF, both kinds of RV, and PA.CP once for each of its steps. */
export async function oneOfEach(client: Client, hosts: readonly Address[]): Promise<Wish[]> {
  const [captured, released, refunded, voided] = await Promise.all([
    client.approved('PA', 10_000, hosts),
    client.approved('PA', 8_000, hosts),
    client.approved('DB', 6_000, hosts),
    client.approved('DB', 5_000, hosts),
  ])
  return [
    client.first('DB', 9_200),
    client.first('PA', 9_300),
    client.first('PA.CP', 9_400),
    client.first('PA.CP', secondStepMinor),
    client.followUp('CP', captured, 4_000),
    client.followUp('RV', released),
    client.followUp('RF', refunded, 2_500),
    client.followUp('RV', voided),
  ]
}

/**
 * Sends the wishes to a host that holds everything at a fault point, and resolves with the waiting
 * visits once all are there.
 */
export async function sendUpTo(
  ground: Ground,
  host: Host,
  at: Parameters<Host['reached']>[0],
  wishes: readonly Wish[],
): Promise<{ readonly visits: readonly Visit[]; readonly sent: Promise<unknown> }> {
  await host.plan({ at, do: 'hold' })
  const sent = Promise.all(wishes.map((wish) => ground.client.send(wish, host)))
  const held = new Map<string, Visit>()
  while (held.size < wishes.length) {
    const visit = await host.reached(at)
    const [row] = await ground.sql<{ reference: string; type: string }>(
      'select merchant_transaction_id as reference, payment_type as type from tollgate.payment where id = $1',
      [visit.ref],
    )
    const wish = wishes.find(({ reference }) => reference === row?.reference)
    if (wish !== undefined && isSecondStep(wish) && row?.type === 'PA') host.release(visit)
    else held.set(row?.reference ?? visit.ref, visit)
  }
  return { visits: [...held.values()], sent }
}
