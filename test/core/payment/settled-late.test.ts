/** Late successes that a settlement file names. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Reversed } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { approval, lose, refuse } from '../../rig/late-words.ts'
import { settled } from '../../rig/settlement.ts'
import { type EffectRun, line, startEffects, today } from '../settlement/effect-run.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const acceptance = { is: 'accepted', refs: { reference: 'by-event' }, finalBy: 'event' }

describe('late successes in settlement files', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())

  const late = async (answer: () => Reversed) => {
    const undone: string[] = []
    const id = await run.pay({
      debit: refuse,
      enquire: approvedAs,
      reverseByKey: ({ key }) => {
        const said = answer()
        if (said.is === 'reversed') undone.push(key)
        return said
      },
    })
    return { id, undone }
  }
  const isSettledBy = (id: string, source: string) =>
    until(async () => {
      const [row] = await run.sql<{ settled_by: string }>(
        "select settled_by from tollgate.attempt where payment_id = $1 and state = 'late'",
        [id],
      )
      return row?.settled_by === source ? true : undefined
    })
  const isBack = (id: string) =>
    until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))

  test('a line that confirms an accepted success does not stop its reversal', async () => {
    let isUp = false
    const { id, undone } = await late(() =>
      isUp ? { is: 'reversed' } : { is: 'unknown', why: 'down' },
    )
    await run.tell(id, { outcome: acceptance })
    await run.file(line(id))
    await isSettledBy(id, 'event')
    isUp = true
    await until(async () => {
      await run.dueNow(id)
      return undone.length > 0 ? true : undefined
    })
    await isBack(id)
    assert.equal(undone.length, 1)
  })

  test('a success that only a line claims is taken back on the request of an operator', async () => {
    const { id, undone } = await late(() => ({ is: 'reversed' }))
    await run.file(line(id))
    await isSettledBy(id, 'settlement')
    assert.equal(undone.length, 0)
    await run.gateway.operator.redrive(id, by)
    await isBack(id)
    assert.equal(undone.length, 1)
  })

  const ended = async (reversed: Reversed) => {
    const id = await run.pay({
      debit: lose,
      enquire: () => ({ is: 'notFound' }),
      reverseByKey: () => reversed,
    })
    await run.age(id)
    await run.dueNow(id)
    await until(async () => ((await run.stateOf(id)) === 'declined' ? true : undefined))
    return id
  }
  const stateOf = async (id: string) => {
    const [row] = await run.sql<{ state: string; settled_by: string }>(
      'select state, settled_by from tollgate.attempt where payment_id = $1',
      [id],
    )
    return [row!.state, row!.settled_by]
  }
  const listed = async (id: string) => (await run.kinds(id)).filter((kind) => !kind.startsWith('('))

  test('the line of a sale that was reversed while it was open changes nothing', async () => {
    const id = await ended({ is: 'reversed' })
    await run.file(line(id))
    assert.deepEqual(await stateOf(id), ['declined', 'reversal'])
    assert.deepEqual(await listed(id), [])
  })

  test('such a line is a late success for another amount, or where nothing was there to be undone', async () => {
    const reversed = await ended({ is: 'reversed' })
    const nothing = await ended({ is: 'nothing' })
    await run.file(line(reversed, { amount: '12.00' }), line(nothing))
    for (const id of [reversed, nothing]) {
      assert.deepEqual(await stateOf(id), ['late', 'settlement'])
      assert.deepEqual(await listed(id), ['conflict'])
      await run.operator.settle(id, 'declined', by)
    }
  })

  test('an operator who assigns such a line says that the money stayed', async () => {
    const id = await ended({ is: 'reversed' })
    const fileId = await run.file(settled({ id: newId(), date: today(), mtid: 'nobody-knows-it' }))
    const [record] = await run.gateway.settlement.exceptions({ fileId })
    await run.gateway.settlement.assign(record!.id, [id], by)
    await until(async () => ((await stateOf(id))[0] === 'late' ? true : undefined))
    assert.deepEqual(await listed(id), ['conflict'])
    await run.operator.settle(id, 'approved', by)
    assert.equal(await run.stateOf(id), 'approved')
  })

  test('money that is paid out after a reversal is not taken back by the answer to that reversal', async () => {
    const asked: string[] = []
    const reverseByKey = ({ key }: { readonly key: string }): Reversed => {
      asked.push(key)
      return { is: 'reversed' }
    }
    const reversed = async () => {
      const id = await run.pay({ debit: lose, enquire: () => ({ is: 'notFound' }), reverseByKey })
      await run.age(id)
      await run.dueNow(id)
      await until(async () => (await run.stateOf(id)) === 'declined' || undefined)
      return id
    }
    const [assigned, other] = [await reversed(), await reversed()]
    const fileId = await run.file(
      settled({ id: newId(), date: today(), mtid: 'nobody-knows-it' }),
      line(other, { amount: '12.00' }),
    )
    const records = await run.gateway.settlement.exceptions({ fileId })
    const unknown = records.find(({ candidates }) => candidates.length === 0)
    await run.gateway.settlement.assign(unknown!.id, [assigned], by)
    for (const id of [assigned, other]) {
      await isSettledBy(id, 'settlement')
      const word = { outcome: { is: 'reversed', refs: { reversal: 'r-1' } } }
      const minor = id === other ? '1200' : '9200'
      assert.equal(await run.tell(id, { ...word, minor }), 'conflict')
      await run.gateway.operator.redrive(id, by)
      await until(async () => (await run.audited(id)).includes('late-success-stands') || undefined)
      assert.deepEqual(await stateOf(id), ['late', 'settlement'])
      assert.deepEqual(await listed(id), ['conflict', 'conflict'])
      await run.operator.settle(id, 'declined', by)
      assert.equal(await run.stateOf(id), 'declined')
    }
    assert.equal(asked.length, 2)
  })

  test('a line that found the payment open is listed once the payment was reversed', async () => {
    const id = await run.pay({
      debit: lose,
      enquire: () => ({ is: 'notFound' }),
      reverseByKey: () => ({ is: 'reversed' }),
    })
    const leased = (interval: string) =>
      run.sql(
        `update tollgate.attempt set lease_until = now() + interval '${interval}' where payment_id = $1`,
        [id],
      )
    const effects = async () => (await run.booksOf(id)).effects
    await leased('1 hour')
    await run.file(line(id))
    assert.deepEqual(await effects(), ['open'])
    await leased('-1 second')
    await run.age(id)
    await until(async () => {
      await run.dueNow(id)
      return (await run.stateOf(id)) === 'declined' || undefined
    })
    await until(async () => {
      await run.makeDue()
      return (await effects())[0] !== 'open' || undefined
    })
    assert.deepEqual(await effects(), ['done STATE'])
    assert.deepEqual(await stateOf(id), ['declined', 'reversal'])
  })

  test('a message of its approval is a late success, whatever was reversed', async () => {
    const id = await ended({ is: 'reversed' })
    assert.equal(await run.tell(id, { outcome: approval }), 'settled')
    await isBack(id)
  })
})
