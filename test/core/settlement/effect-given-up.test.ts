/** A chargeback whose settlement record failed for good holds up refunds until an operator resolves its entry. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { unknown } from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/index.ts'
import { until } from '../../rig/gateway.ts'
import { charged, eur, lose } from '../../rig/late-words.ts'
import { chargeback, type EffectRun, line, startEffects } from './effect-run.ts'

const by = { by: 'alice', reason: 'the institute sent no other file' }
const refused = { code: '700.300.600' }

describe('a chargeback whose effect failed for good', () => {
  let run: EffectRun
  /** Payments whose records meet a defect. */
  const broken = new Set<string>()
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())
  afterEach(() => {
    broken.clear()
    onFaultPoint(undefined)
  })

  const meetsDefect = (...ids: readonly string[]) => {
    for (const id of ids) broken.add(id)
    onFaultPoint(async (point, about) => {
      if (point !== 'before-settlement-effect') return
      const [record] = await run.sql<{ payment: string }>(
        "select replace(named_payment::text, '-', '') as payment from tollgate.settlement_record where id = $1",
        [about],
      )
      if (broken.has(record!.payment)) throw new Error('a defect')
    })
  }
  const effectsAre = (id: string, ...effects: readonly string[]) =>
    until(async () => {
      await run.makeDue()
      return String((await run.booksOf(id)).effects) === String(effects) || undefined
    })
  const entryOf = (fileId: string) =>
    until(async () =>
      (await run.gateway.operator.attention(1000)).find(
        ({ detail }) => detail.exception === 'EFFECT' && detail.file === fileId,
      ),
    )
  const resolve = async (fileId: string) =>
    run.gateway.operator.resolve((await entryOf(fileId)).id, by)
  const rerun = async (fileId: string) => {
    await run.gateway.settlement.rerun(fileId, by)
    await run.finished(fileId)
  }
  const failed = async (...ids: readonly string[]) => {
    meetsDefect(...ids)
    const fileId = await run.file(...ids.map((id) => chargeback(id)))
    for (const id of ids) await effectsAre(id, 'failed')
    return fileId
  }
  const refund = (id: string) => run.gateway.payments.refund(id, eur('92.00'))

  test('stops refunds no more once an operator resolves its entry, also where the file is gone', async () => {
    const id = await run.pay()
    const fileId = await failed(id)
    await run.sql('delete from tollgate.settlement_part where file_id = $1', [fileId])
    await assert.rejects(run.gateway.settlement.rerun(fileId, by), { code: '700.400.580' })
    await assert.rejects(refund(id), refused)
    await resolve(fileId)
    assert.equal((await refund(id)).result.code, charged)
  })

  test('is recorded as ever when the file is run again after that', async () => {
    const id = await run.pay()
    const fileId = await failed(id)
    await resolve(fileId)
    broken.clear()
    await rerun(fileId)
    await effectsAre(id, 'done')
    assert.deepEqual((await run.booksOf(id)).disputes, ['chargeback 9200 9200'])
    await assert.rejects(refund(id), refused)
  })

  test('stops refunds again when it fails again after that', async () => {
    const id = await run.pay()
    const fileId = await failed(id)
    await resolve(fileId)
    await rerun(fileId)
    await assert.rejects(refund(id), refused)
    await effectsAre(id, 'failed')
    await assert.rejects(refund(id), refused)
    await resolve(fileId)
    assert.equal((await refund(id)).result.code, charged)
  })

  test('stops no refund again when another record of the file fails later', async () => {
    const id = await run.pay()
    const open = await run.pay({ debit: lose, enquire: () => unknown('busy') })
    meetsDefect(id)
    const fileId = await run.file(chargeback(id), chargeback(open))
    await effectsAre(id, 'failed')
    await resolve(fileId)
    meetsDefect(open)
    await effectsAre(open, 'failed')
    assert.equal((await entryOf(fileId)).detail.count, 1)
    assert.equal((await refund(id)).result.code, charged)
  })

  test('that failed after its entry was written is listed again, and stops refunds until then', async () => {
    const [id, later] = [await run.pay(), await run.pay()]
    const fileId = await failed(id, later)
    await entryOf(fileId)
    // As if a process had died between the failure and the list.
    await run.sql(
      `update tollgate.settlement_record set effect_after = now() where named_payment = $1`,
      [later],
    )
    await resolve(fileId)
    await assert.rejects(refund(later), refused)
    assert.equal((await refund(id)).result.code, charged)
    await run.file(line(await run.pay()))
    assert.equal((await entryOf(fileId)).detail.count, 1)
    await resolve(fileId)
    assert.equal((await refund(later)).result.code, charged)
  })
})
