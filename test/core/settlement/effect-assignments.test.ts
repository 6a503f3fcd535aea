/** A record and its payment stay together while its effect is carried out, and afterwards. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { approved } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { until } from '../../rig/gateway.ts'
import { refuse } from '../../rig/late-words.ts'
import { type EffectRun, line, startEffects } from './effect-run.ts'

const by = { by: 'alice', reason: 'seen at the bank' }

describe('a settlement record with an effect', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())

  const recordOf = async (settlementId: string) => {
    const [row] = await run.sql<{
      id: string
      match_status: string
      tier: string | null
      effect: string
      effect_tries: number
      payments: string[]
    }>(
      `select id, match_status, tier, effect, effect_tries,
         array(select replace(given.id::text, '-', '') from unnest(candidates) as given (id)) as payments
       from tollgate.settlement_record where settlement_id = $1`,
      [settlementId],
    )
    return row!
  }
  const attemptOf = async (id: string) => {
    const [row] = await run.sql<{ state: string }>(
      'select state from tollgate.attempt where payment_id = $1',
      [id],
    )
    return row!.state
  }
  const effectOver = (settlementId: string) =>
    until(async () => {
      const { effect } = await recordOf(settlementId)
      if (effect !== 'open') return effect
      await run.makeDue()
      return undefined
    })
  const retried = async () => {
    await run.sql("update tollgate.timer set due_at = now() where kind = 'settlement-retry'")
    await until(async () => {
      const due = await run.sql(
        "select from tollgate.timer where kind = 'settlement-retry' and due_at < now() + interval '30 minutes'",
      )
      return due.length === 0 || undefined
    })
  }

  test('stays with the payment that it made late, whatever a retry finds', async () => {
    const late = await run.pay({ debit: refuse })
    const settlementId = newId()
    await run.file(line(late, { id: settlementId, ref1: `psp-${late}` }))
    await effectOver(settlementId)
    assert.equal(await attemptOf(late), 'late')
    const other = await run.pay({
      debit: (_, context) => {
        context.sending()
        return approved({ reference: `psp-${late}` })
      },
    })
    await retried()
    const { match_status: status, payments } = await recordOf(settlementId)
    assert.deepEqual([status, payments], ['NOT_MATCHED', [late]])
    assert.equal(await run.settledSum(other), 0n)
    await run.gateway.operator.settle(late, 'approved', by)
    await retried()
    const kept = await recordOf(settlementId)
    assert.deepEqual([kept.match_status, kept.payments], ['MATCHED', [late]])
  })
})
