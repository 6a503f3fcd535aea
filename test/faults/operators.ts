/**
 * Operators: without reversals by key they decide by the acquirer's books; they keep some late
 * successes, and close some entries that block others, and those that block a reversal of the engine.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { defaultSecret } from '../../connectors/simulator/server.ts'
import { keyHeader, merchantHeader } from '../../connectors/simulator/wire.ts'
import { createGateway, type Gateway, localKeys } from '../../core/index.ts'
import { testKey } from '../rig/gateway.ts'
import acquirer, {
  connectorsAt,
  withoutReversalByKey,
} from '../rig/installation/acquirer-plugin.ts'
import type { Scene } from './injections.ts'

export type Operators = {
  /** Decides what only operators can decide or unblock, until `end` resolves. */
  decideUntil(end: Promise<unknown>): Promise<void>
  /**
   * Keeps every second late success that the acquirer completed, and closes every second return.
   */
  decideSome(): Promise<void>
  close(): Promise<void>
}

const decided = { by: 'operator', reason: 'the books of the acquirer' }
const everyMs = 500

export async function openOperators({ ground }: Scene): Promise<Operators> {
  const { sql } = ground
  const gateway: Gateway = await createGateway({
    name: 'operators',
    database: { url: ground.proxy.url },
    plugins: [acquirer],
    connectors: connectorsAt(ground.acquirer.url),
    environment: 'test',
    allowLoopbackForMerchants: true,
    keys: localKeys(testKey),
    role: 'api',
    migrate: false,
  })
  const isDone = async (key: string): Promise<boolean> => {
    const answer = await fetch(`${ground.acquirer.url}/operations?key=${key}`, {
      headers: {
        authorization: `Bearer ${defaultSecret}`,
        [merchantHeader]: await ground.acquirer.merchantOf(key),
        [keyHeader]: key,
      },
    })
    return ((await answer.json()) as { status: string }).status === 'approved'
  }
  const settle = async ({ id, key }: { id: string; key: string }) => {
    const as = (await isDone(key)) ? 'approved' : 'declined'
    // A simultaneous decision leaves nothing to decide.
    await gateway.operator.settle(id, as, decided).catch(() => undefined)
  }
  return {
    async decideUntil(end) {
      let ended = false
      const mark = () => {
        ended = true
      }
      end.then(mark, mark)
      while (!ended) {
        const stuck = await sql<{ id: string; key: string }>(
          `select p.id, a.key
           from tollgate.payment p
           join tollgate.attempt a on a.key = p.attempt_key
           where p.state = 'unknown' and p.connector = $1 and a.enquiries + a.questions > 1
             and (a.lease_until is null or a.lease_until < now())`,
          [withoutReversalByKey],
        )
        for (const one of stuck) await settle(one)
        // A contradiction stops the reversal that the failed capture of a sale in two steps waits for.
        const holding = await sql<{ id: string }>(
          `select distinct entry.id
           from tollgate.timer t
           join tollgate.payment p on p.id = case when t.kind = 'continue' then t.ref::uuid end
           join tollgate.payment capture on capture.id = p.chain_id and capture.state = 'declined'
           join tollgate.attention entry on p.id = any(entry.freezes)
           where entry.kind = 'conflict' and entry.resolved_at is null`,
        )
        for (const { id } of holding) {
          await gateway.operator.resolve(id, decided).catch(() => undefined)
        }
        await pause(everyMs)
      }
    },
    async decideSome() {
      const late = await sql<{ id: string; key: string }>(
        // The acquirer failed some operations and did not book their end, so its books prove nothing about these.
        `select payment_id as id, key
         from tollgate.attempt a
         where state = 'late' and not exists (select from oracle.failure f where f.key = a.key)
         order by key`,
      )
      for (const [no, one] of late.entries()) {
        if (no % 2 === 0 && (await isDone(one.key))) {
          await gateway.operator.settle(one.id, 'approved', decided).catch(() => undefined)
        }
      }
      const returns = await sql<{ id: string }>(
        `select id from tollgate.attention where kind = 'return' and resolved_at is null order by id`,
      )
      for (const [no, { id }] of returns.entries()) {
        if (no % 2 === 0) await gateway.operator.resolve(id, decided)
      }
    },
    close: () => gateway.close(),
  }
}
