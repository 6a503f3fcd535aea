import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'

const eur = (amount: string) => ({ amount, currency: 'EUR' as const })
const closed = { code: '700.300.300' }
const full = { code: '700.400.100' }
const approved = '000.100.110'

describe('increments and reauthorisations', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway()
  })
  after(() => closeChecked(run))

  const authorise = async (more: Record<string, unknown> = {}) =>
    (await run.pay({ paymentType: 'PA', ...more })).id
  const again = (
    id: string,
    industryPractice: 'INCREMENTAL_AUTH' | 'REAUTHORIZATION',
    amount: string,
  ) =>
    run.gateway.payments.followUp(id, {
      paymentType: 'PA',
      ...eur(amount),
      standingInstruction: { industryPractice },
    })
  const increase = (id: string, amount: string) => again(id, 'INCREMENTAL_AUTH', amount)
  const replace = (id: string, amount: string) => again(id, 'REAUTHORIZATION', amount)
  const capture = (id: string, amount: string) => run.gateway.payments.capture(id, eur(amount))

  test('the amount of an INCREMENTAL_AUTH is the increase, and captures on any member count against the root', async () => {
    const root = await authorise()
    const first = await increase(root, '8.00')
    const second = await increase(first.id, '100.00')
    assert.equal(second.amount, '100.00')
    assert.equal(second.referencedId, first.id)
    assert.equal((await balanceOf(run, root)).authorised, 20_000n)
    await capture(second.id, '150.00')
    await assert.rejects(capture(root, '50.01'), full)
    await assert.rejects(capture(first.id, '50.01'), full)
    await capture(root, '50.00')
    assert.equal((await balanceOf(run, root)).captured, 20_000n)
  })

  test('a reversal on an increment releases the rest of the root', async () => {
    const root = await authorise()
    const member = await increase(root, '8.00')
    await capture(root, '40.00')
    const reversal = await run.gateway.payments.reverse(member.id)
    assert.equal(reversal.amount, '60.00')
    await assert.rejects(capture(root, '0.01'), full)
  })

  test('an increment by referenceUuid equals one by path', async () => {
    const root = await authorise()
    const { status, body } = await run.send({
      entityId: run.channel,
      paymentType: 'PA',
      ...eur('8.00'),
      referenceUuid: root,
      'standingInstruction.industryPractice': 'INCREMENTAL_AUTH',
    })
    assert.equal(status, 200)
    assert.equal(body.referencedId, root)
    assert.equal((await balanceOf(run, root)).authorised, 10_000n)
  })

  test('an unmatched referenceUuid is 400 200.300.404 naming it, foreign and unknown alike', async () => {
    const root = await authorise()
    const merchant = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: merchant,
    })
    const form = {
      entityId: channel,
      paymentType: 'PA',
      ...eur('8.00'),
      'standingInstruction.industryPractice': 'REAUTHORIZATION',
    }
    const caller = { id: 'theirs', entityId: merchant }
    const results = []
    for (const referenceUuid of ['0190f2a0000070008000000000000000', root]) {
      const { status, body } = await run.send({ ...form, referenceUuid }, { caller })
      assert.equal(status, 400)
      assert.equal(body.result.code, '200.300.404')
      assert.deepEqual(
        body.result.parameterErrors?.map(({ name }) => name),
        ['referenceUuid'],
      )
      results.push({
        ...body.result,
        parameterErrors: body.result.parameterErrors?.map(({ message }) => message),
      })
    }
    assert.deepEqual(results[1], results[0])
  })

  test('a referenceUuid with another type or without an industry practice is refused by name', async () => {
    const root = await authorise()
    for (const fields of [
      { paymentType: 'DB', 'standingInstruction.industryPractice': 'INCREMENTAL_AUTH' },
      { paymentType: 'PA' },
    ] as const) {
      const { status, body } = await run.send({
        entityId: run.channel,
        ...eur('8.00'),
        referenceUuid: root,
        ...fields,
      })
      assert.equal(status, 400)
      assert.deepEqual(
        body.result.parameterErrors?.map(({ name }) => name),
        ['referenceUuid'],
      )
    }
  })

  test('a declined increment adds nothing', async () => {
    const root = await authorise()
    const refused = await run.gateway.payments.followUp(root, {
      paymentType: 'PA',
      ...eur('8.00'),
      standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' },
      customParameters: { SIM_DECLINE: '800.100.152' },
    })
    assert.equal(refused.result.code, '800.100.152')
    const { authorised, increasing } = await balanceOf(run, root)
    assert.deepEqual({ authorised, increasing }, { authorised: 9200n, increasing: 0n })
    await assert.rejects(capture(root, '92.01'), full)
  })

  test('a REAUTHORIZATION closes the rest of the old authorisation and has its own sums', async () => {
    const old = await authorise()
    const taken = await capture(old, '30.00')
    const fresh = await replace(old, '200.00')
    assert.equal(fresh.result.code, approved)
    assert.equal(fresh.referencedId, old)
    await assert.rejects(capture(old, '0.01'), full)
    await assert.rejects(run.gateway.payments.reverse(old), { code: '700.400.300' })
    await assert.rejects(increase(old, '1.00'), closed)
    await assert.rejects(replace(old, '1.00'), closed)
    await capture(fresh.id, '200.00')
    await assert.rejects(capture(fresh.id, '0.01'), full)
    const refund = await run.gateway.payments.refund(taken.id, eur('30.00'))
    assert.equal(refund.result.code, approved)
  })

  test('a declined REAUTHORIZATION leaves the old authorisation unchanged', async () => {
    const old = await authorise()
    const refused = await run.gateway.payments.followUp(old, {
      paymentType: 'PA',
      ...eur('200.00'),
      standingInstruction: { industryPractice: 'REAUTHORIZATION' },
      customParameters: { SIM_DECLINE: '800.100.152' },
    })
    assert.equal(refused.result.code, '800.100.152')
    assert.equal((await capture(old, '92.00')).result.code, approved)
  })

  test('increments and reauthorisations after a FINAL capture or a full reversal are refused', async () => {
    const final = await authorise()
    await run.gateway.payments.capture(final, { ...eur('10.00'), sequence: 'FINAL' })
    const reversed = await authorise()
    await run.gateway.payments.reverse(reversed)
    for (const id of [final, reversed]) {
      await assert.rejects(increase(id, '1.00'), closed)
      await assert.rejects(replace(id, '1.00'), closed)
    }
  })

  test('a partial reversal allows both, and a fully captured authorisation can be incremented', async () => {
    const part = await authorise()
    await run.gateway.payments.reverse(part, eur('10.00'))
    await increase(part, '10.00')
    await capture(part, '92.00')
    await assert.rejects(capture(part, '0.01'), full)
    const replaced = await authorise()
    await run.gateway.payments.reverse(replaced, eur('10.00'))
    assert.equal((await replace(replaced, '20.00')).result.code, approved)
    const spent = await authorise()
    await capture(spent, '92.00')
    await increase(spent, '5.00')
    await capture(spent, '5.00')
    await assert.rejects(capture(spent, '0.01'), full)
  })

  test('nextActions of an increment are those possible on it now', async () => {
    const root = await authorise()
    const member = await increase(root, '8.00')
    const read = await run.gateway.payments.get(member.id)
    assert.deepEqual(read.nextActions, ['CP', 'RC', 'RV', 'PA'])
    assert.deepEqual(member.nextActions, read.nextActions)
  })

  test('a PA that refers to another one needs INCREMENTAL_AUTH or REAUTHORIZATION as its practice', async () => {
    const root = await authorise()
    for (const more of [{}, { 'standingInstruction.industryPractice': 'NO_SHOW' }]) {
      const { status, body } = await run.send(
        { paymentType: 'PA', ...eur('8.00'), ...more },
        { id: root },
      )
      assert.equal(status, 400)
      assert.deepEqual(
        body.result.parameterErrors?.map(({ name }) => name),
        ['standingInstruction.industryPractice'],
      )
    }
  })
})
