/** Two pods: the engine of a test, and one beside it with a merchant of its own. */
import assert from 'node:assert/strict'
import { Pods } from '../../core/index.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts'

export type TwoPods = {
  /** The engine under test. */
  readonly engine: TestGateway
  readonly beside: TestGateway
  readonly pods: Pods
  /** Closes both. Fails when anything of the test reached the other pod. */
  close(): Promise<void>
}

/**
 * Starts both. Operators reach the pod with the lowest number without naming it, so that tests about them have the
 * engine under test as pod 0; to all other tests, the engine is pod 1, which only the directory leads to.
 */
export async function startPods(options: TestGatewayOptions): Promise<TwoPods> {
  const isFirst = process.env.TOLLGATE_TEST_PODS === 'first'
  const ofBeside = { role: 'api' } as const
  const first = await startGateway(isFirst ? options : ofBeside)
  const installationKey = await first.gateway.installationKey()
  const pod = { number: 1, installationKey }
  const second = await startGateway({ ...(isFirst ? ofBeside : options), pod })
  const [engine, beside] = isFirst ? [first, second] : [second, first]
  await beside.gateway.entities.createToken(beside.channel, 'beside')
  const pods = new Pods([first.gateway, second.gateway])
  return {
    ...{ engine, beside, pods },
    async close() {
      const left = await beside.sql<{ entities: bigint; tokens: bigint; payments: bigint }>(
        `select (select count(*) from tollgate.entity) as entities, (select count(*) from tollgate.token) as tokens,
           (select count(*) from tollgate.payment) + (select count(*) from tollgate.checkout)
             + (select count(*) from tollgate.registration) + (select count(*) from tollgate.inbound_event) as payments`,
      )
      await engine.close()
      await beside.close()
      assert.deepEqual(
        left,
        [{ entities: 4n, tokens: 1n, payments: 0n }],
        'the pod beside is untouched',
      )
    },
  }
}
