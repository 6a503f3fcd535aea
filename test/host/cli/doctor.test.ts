/** What the doctor says about the rows of payments. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway, testKey } from '../../rig/gateway.ts'
import { projectFolder, runTollgate } from './tollgate.ts'

test('the doctor expects an attempt of every payment, but not of chargebacks and their reversals', async () => {
  const run = await startGateway()
  const project = await projectFolder()
  const env = { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey }
  const examined = async () => {
    const { out } = await runTollgate(['doctor'], { folder: project.path, env })
    return out.split('\n').filter((line) => /consistent|without|^\d+ problem/.test(line))
  }
  const withoutAttempt = (ids: readonly string[]) =>
    run.sql('delete from tollgate.attempt where payment_id = any($1::uuid[])', [ids])
  try {
    const [one, two] = [await run.pay(), await run.pay()]
    const { payments } = run.gateway
    const chargeback = await payments.followUp(one.id, { paymentType: 'CB' })
    await payments.followUp(chargeback.id, { paymentType: 'CR' })
    const durability = '1 problem.'
    assert.deepEqual(await examined(), [
      'ok       rows of the last 35 days are consistent',
      durability,
    ])
    await withoutAttempt([one.id])
    assert.deepEqual(await examined(), ['PROBLEM  1 payment without an attempt', '2 problems.'])
    await withoutAttempt([two.id])
    assert.deepEqual(await examined(), ['PROBLEM  2 payments without an attempt', '2 problems.'])
  } finally {
    await run.close()
    await project.remove()
  }
})
