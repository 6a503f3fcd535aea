/** A merchant with many rules: the question for its brands needs no login, so it must be cheap. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { workedMs } from '../../rig/worked.ts'
import { newCheckout } from './rig.ts'

const rules = 500
const rounds = 10

describe('the offer of a merchant with many rules', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())

  test('has the brands of its rules, and asks each channel once', async () => {
    const { entities, checkouts } = run.gateway
    const rule = (at: number, brands?: readonly string[]) => ({
      priority: at + 1,
      channelId: run.channel,
      currencies: ['EUR'],
      ...(brands === undefined ? {} : { brands }),
    })
    const setRules = (list: readonly object[]) =>
      entities.dispatching.replace(run.merchant, list as never)
    await setRules([rule(0, ['VISA']), rule(1, ['VISA', 'JCB'])])
    const id = await newCheckout(run, { entityId: run.merchant })
    const brandsOf = async () => (await checkouts.offer(id)).brands.map(({ brand }) => brand)
    assert.deepEqual(await brandsOf(), ['VISA', 'JCB'])
    await setRules(Array.from({ length: rules }, (_, at) => rule(at)))
    await until(async () => ((await brandsOf()).length > 2 ? true : undefined))
    // No account is for this mode, so that every brand of every rule is asked for in vain.
    const empty = await newCheckout(run, { entityId: run.merchant })
    await run.sql(`update tollgate.checkout set mode = 'EXTERNAL' where id = $1`, [empty])
    assert.deepEqual((await checkouts.offer(empty)).brands, [])
    const started = workedMs()
    for (let round = 0; round < rounds; round += 1) await checkouts.offer(empty)
    const each = (workedMs() - started) / rounds
    assert.ok(each < 20, `${each} ms`)
  })
})
