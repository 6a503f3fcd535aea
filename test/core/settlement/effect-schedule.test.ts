/** A scheduled charge that the acquirer accepted, and that its institute does not pay out. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../../core/index.ts'
import { until } from '../../rig/gateway.ts'
import { accept } from '../../rig/late-words.ts'
import { scheduling } from '../../rig/schedules.ts'
import { type EffectRun, line, startEffects } from './effect-run.ts'

describe('a scheduled charge that is not paid out', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())

  test('is a decline, and no proof that nothing was charged: without a policy it is not repeated', async () => {
    const tools = scheduling(run)
    const reference = `charge-${newId()}`
    run.acquirer.tell(reference, { debit: accept })
    const at = new Date(Date.now() + 2_000)
    const day = `${at.getUTCDate()} ${at.getUTCMonth() + 1} ? ${at.getUTCFullYear()}`
    const time = `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()}`
    const where = { testMode: 'EXTERNAL', ...run.at('settling') }
    const { id } = await tools.schedule(await tools.store(where), {
      ...{ ...where, merchantTransactionId: reference, job: { expression: `${time} ${day}` } },
    })
    const payments = () =>
      run.sql<{ id: string; state: string; result_code: string }>(
        `select replace(id::text, '-', '') as id, state, result_code
           from tollgate.payment where schedule_id = $1 order by id`,
        [id],
      )
    const [charged] = await until(async () => {
      const found = await payments()
      return found[0]?.state === 'approved' ? found : undefined
    })
    await run.file(line(charged!.id, { status: 'FAILED', amount: '12.00' }))
    // The execution is looked at now, and a repeat of a charge that was never made would begin.
    await until(async () => {
      const left = await run.sql(
        `select from tollgate.timer join tollgate.occurrence
           on timer.ref = replace(occurrence.id::text, '-', '')
         where timer.kind = 'execution' and occurrence.schedule_id = $1`,
        [id],
      )
      return left.length === 0 || undefined
    })
    const after = await payments()
    assert.deepEqual(
      after.map(({ state, result_code: code }) => `${state} ${code}`),
      ['declined 100.397.102'],
    )
    assert.deepEqual(run.acquirer.of(reference), ['debit'])
  })
})
