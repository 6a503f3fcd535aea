/**
 * The result of matching depends on the lines and on the payments, and neither on the order of the lines
 * nor on their division into files or windows.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { isId } from '../../../core/ids.ts'
import { assign } from '../../../core/settlement/assign.ts'
import { takeSmallSteps } from '../../rig/small-steps.ts'
import { type Decided, type Line, type MatchingRun, startMatching } from './matching-run.ts'

const runs = 8

/** Lines of a window, so that a file has several. */
const windowLines = 3

describe('the records of settlement files', () => {
  let run: MatchingRun
  let ids: string[]
  before(async () => {
    run = await startMatching()
    ids = await somePayments(run)
  })
  after(() => run.close())

  test('are the same for every order of the lines, and every division into files and windows', async () => {
    const given = fc.record({
      lines: fc.array(lineOf(ids), { minLength: 2, maxLength: 10 }),
      seed: fc.infiniteStream(fc.nat()),
      cuts: fc.tuple(fc.nat(), fc.nat()),
    })
    await fc.assert(
      fc.asyncProperty(given, async ({ lines, seed, cuts }) => {
        const numbered = lines.map((line, index) => ({ ...line, settlementId: `s-${index}` }))
        const whole = await resultOf(run, [numbered])
        const mixed = shuffled(numbered, seed)
        assert.deepEqual(await resultOf(run, [mixed]), whole)
        const [one, two] = cuts.map((cut) => cut % (mixed.length + 1)).sort((a, b) => a - b)
        const parts = [mixed.slice(0, one), mixed.slice(one, two), mixed.slice(two)]
        const files = parts.filter(({ length }) => length > 0)
        const restore = takeSmallSteps(windowLines)
        try {
          assert.deepEqual(await resultOf(run, files), whole)
        } finally {
          restore()
        }
        await assertConserved(run, whole)
      }),
      { numRuns: runs },
    )
  })

  test('are the same after the same file again, under any name', async () => {
    const given = fc.array(lineOf(ids), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(given, async (lines) => {
        // Without an id of the institute, equal lines are so many records.
        const once = await resultOf(run, [lines])
        await run.file(lines)
        assert.deepEqual(await run.records(), once)
      }),
      { numRuns: runs },
    )
  })

  test('keep their first version when a corrected file says something else, and say so', async () => {
    await run.forget()
    await run.file([{ settlementId: 'first', paymentId: ids[0]! }])
    const before = (await run.records()).first!
    const corrected = await run.file([
      { settlementId: 'first', paymentId: ids[0]!, minor: 100n },
      { settlementId: 'second', paymentId: ids[1]! },
    ])
    const { first, second } = await run.records()
    assert.deepEqual(first, { ...before, discrepancies: ['CHANGED'] })
    assert.equal(second!.status, 'MATCHED')
    const exceptions = await run.sql(
      'select kind, line, detail from tollgate.settlement_exception where file_id = $1',
      [corrected],
    )
    assert.equal(exceptions.length, 1)
    assert.equal(exceptions[0]!.kind, 'CHANGED')
    const { expected, came } = exceptions[0]!.detail as Record<string, { amount: string }>
    assert.deepEqual([expected!.amount, came!.amount], ['9200', '100'])
  })

  test('stay matched, whatever files come later', async () => {
    const given = fc.tuple(
      fc.array(lineOf(ids), { minLength: 1, maxLength: 5 }),
      fc.array(lineOf(ids), { minLength: 1, maxLength: 5 }),
    )
    await fc.assert(
      fc.asyncProperty(given, async ([first, second]) => {
        const named = first.map((line, index) => ({ ...line, settlementId: `first-${index}` }))
        const before = await resultOf(run, [named])
        await run.file(second.map((line, index) => ({ ...line, settlementId: `later-${index}` })))
        await run.again()
        const now = await run.records()
        for (const [id, record] of Object.entries(before)) {
          if (record.status !== 'MATCHED' || record.tier === 'composite') continue
          assert.deepEqual(now[id]!.matches, record.matches)
          assert.equal(now[id]!.tier, record.tier)
        }
        await assertConserved(run, now)
      }),
      { numRuns: runs },
    )
  })

  test('keep the assignment of an operator', async () => {
    const [id = ''] = ids
    await run.forget()
    const line = { settlementId: 'assigned', merchantTransactionId: 'order-unknown' }
    const fileId = await run.file([line])
    const [record] = await run.sql<{ id: string }>('select id from tollgate.settlement_record')
    assert.ok(isId(record!.id))
    await assign(run.engine, record!.id, [id], { by: 'alice', reason: 'seen at the bank' })
    const assigned = (await run.records()).assigned!
    assert.deepEqual(
      [assigned.status, assigned.tier, assigned.matches],
      ['MATCHED', 'operator', { [id]: 9200n }],
    )
    await run.file([line, { settlementId: 'other', paymentId: ids[1]! }])
    await run.file([{ ...line, minor: 100n }])
    await run.again()
    assert.deepEqual((await run.records()).assigned, { ...assigned, discrepancies: ['CHANGED'] })
    await assert.rejects(
      assign(run.engine, record!.id, [ids[1]!], { by: 'bob', reason: 'another mind' }),
      { code: '700.100.100' },
    )
    const [audit] = await run.sql<{ actor: string; detail: object; after: object }>(
      "select actor, detail, after from tollgate.audit where action = 'settlement-record.assigned'",
    )
    assert.equal(audit!.actor, 'alice')
    assert.deepEqual(
      [audit!.detail, audit!.after],
      [{ reason: 'seen at the bank' }, { payments: [id] }],
    )
    assert.deepEqual(await listed(run, fileId), [])
  })
})

/** Sales, a preauthorization with captures, a refund, a declined payment: the ids of all. */
async function somePayments(run: MatchingRun): Promise<string[]> {
  const pay = async (reference: string, more: object = {}) =>
    (await run.pay({ testMode: 'EXTERNAL', merchantTransactionId: reference, ...more })).id
  const follow = async (id: string, paymentType: string, amount: string) =>
    (await run.gateway.payments.followUp(id, { paymentType, amount, currency: 'EUR' } as never)).id
  const sale = await pay('order-sale-1')
  const other = await pay('order-sale-2')
  const held = await pay('order-held-1', { paymentType: 'PA', amount: '60.00' })
  const captures = [
    await follow(held, 'CP', '10.00'),
    await follow(held, 'CP', '20.00'),
    await follow(held, 'CP', '15.00'),
  ]
  return [sale, other, held, ...captures, await follow(other, 'RF', '30.00')]
}

/** Lines that name payments in many ways, right and wrong. */
const lineOf = (ids: readonly string[]): fc.Arbitrary<Line> =>
  fc
    .record({
      kind: fc.constantFrom('DEBIT', 'DEBIT', 'REFUND'),
      recordType: fc.constantFrom('SETTLED', 'SETTLED', 'SETTLED', 'CHARGEBACK'),
      minor: fc.constantFrom(9200n, 3000n, 1000n, 2000n, 1500n, 4500n, 2500n),
      name: fc.constantFrom('id', 'reference', 'both', 'none', 'card', 'card'),
      id: fc.constantFrom(...ids),
      reference: fc.constantFrom('order-sale-1', 'ORDER-SALE-2', ' order-held-1 ', 'order-unknown'),
    })
    .map(({ kind, recordType, minor, name, id, reference }) => ({
      ...{ minor, transactionType: kind as 'DEBIT', recordType: recordType as 'SETTLED' },
      ...(name === 'id' || name === 'both' ? { paymentId: id } : {}),
      ...(name === 'reference' || name === 'both' ? { merchantTransactionId: reference } : {}),
      ...(name === 'card' ? { last4: '0000', brand: 'VISA' } : {}),
    }))

/** Decides files one after the other, then the undecided records again. */
async function resultOf(
  run: MatchingRun,
  files: readonly (readonly Line[])[],
): Promise<Readonly<Record<string, Decided>>> {
  await run.forget()
  for (const lines of files) await run.file(lines)
  assert.equal(await run.again(), true)
  return run.records()
}

function shuffled<T>(all: readonly T[], seed: Iterable<number>): T[] {
  const keys = seed[Symbol.iterator]()
  return all
    .map((one) => ({ one, at: keys.next().value ?? 0 }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one)
}

/** No payment is settled beyond its amount, unless its records say so. */
async function assertConserved(
  run: MatchingRun,
  records: Readonly<Record<string, Decided>>,
): Promise<void> {
  const rows = await run.sql<{ id: string; amount_minor: bigint }>(
    'select id, amount_minor from tollgate.payment',
  )
  const amounts = new Map(rows.map(({ id, amount_minor: minor }) => [id, minor]))
  const sums = new Map<string, bigint>()
  for (const { matches, tier, discrepancies } of Object.values(records)) {
    if (tier === 'composite' || discrepancies.includes('DUPLICATE_SETTLEMENT')) continue
    for (const [id, minor] of Object.entries(matches)) sums.set(id, (sums.get(id) ?? 0n) + minor)
  }
  for (const [id, sum] of sums) assert.ok(sum <= amounts.get(id)!, `${id} is settled with ${sum}`)
}

const listed = (run: MatchingRun, fileId: string) =>
  run.sql(
    "select reference from tollgate.attention where kind = 'settlement' and resolved_at is null and reference = $1",
    [`NOT_MATCHED ${fileId}`],
  )
