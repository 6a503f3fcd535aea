/** What surrounds matching: other merchants, deaths of the process, control totals, exceptions, operators. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type FaultPoint, onFaultPoint } from '../../../core/fault-point.ts'
import { newId } from '../../../core/ids.ts'
import { assign, rerun } from '../../../core/settlement/assign.ts'
import { scriptedName } from '../../rig/acquirer.ts'
import { type MatchingRun, startMatching, today } from './matching-run.ts'

const by = { by: 'alice', reason: 'agreed with the bank' }

describe('decided settlement files', () => {
  let run: MatchingRun
  let otherChannel: string
  before(async () => {
    run = await startMatching()
    otherChannel = await anotherMerchant(run)
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => run.close())

  const pay = async (reference: string, more: object = {}) =>
    (await run.pay({ testMode: 'EXTERNAL', merchantTransactionId: reference, ...more })).id

  test('never touch a payment of another merchant, whatever the line names', async () => {
    await run.forget()
    const foreign = await pay('order-foreign', { entityId: otherChannel })
    const key = await run.keyOf(foreign)
    const [{ short_id: shortId } = { short_id: '' }] = [{ short_id: await shortIdOf(run, foreign) }]
    for (const line of [
      { paymentId: foreign },
      { key },
      { refs: [`at-${key}`] },
      { merchantTransactionId: 'order-foreign' },
      { shortId },
      { last4: '0000', brand: 'VISA' },
    ]) {
      const record = await run.recordOf(line)
      assert.equal(record.status, 'NOT_MATCHED', JSON.stringify(line))
      assert.deepEqual([record.candidates, record.matches], [[], {}])
      assert.deepEqual(
        record.discrepancies,
        'paymentId' in line || 'key' in line ? ['ID_UNKNOWN'] : [],
      )
    }
    const [record] = await run.sql<{ id: string }>(
      'select id from tollgate.settlement_record limit 1',
    )
    await assert.rejects(assign(run.engine, record!.id, [foreign], by), {
      parameterErrors: [
        { name: 'paymentIds', message: `${foreign} is no payment of the record's merchant` },
      ],
    })
    const own = await run.recordOf({ merchantNumber: 'MERCHANT-2', paymentId: foreign })
    assert.equal(own.status, 'MATCHED')
  })

  test('refuse an assignment of a payment that the record cannot be about', async () => {
    await run.forget()
    const sale = await pay('order-assign-1')
    await run.file([{ settlementId: 'refund', transactionType: 'REFUND' }])
    const [record] = await run.sql<{ id: string }>('select id from tollgate.settlement_record')
    for (const [ids, message] of [
      [[], /1 to 100 ids/],
      [['nonsense'], /1 to 100 ids/],
      [[newId()], /no payment of the record's merchant/],
      [[sale], /is of type DB, and the record is about RF/],
    ] as const) {
      await assert.rejects(assign(run.engine, record!.id, ids, by), (thrown: unknown) => {
        const [error] = (thrown as { parameterErrors: { name: string; message: string }[] })
          .parameterErrors
        assert.equal(error!.name, 'paymentIds')
        assert.match(error!.message, message)
        return true
      })
    }
    await assert.rejects(assign(run.engine, newId(), [sale], by), { code: '700.400.580' })
  })

  test('keep one record of two lines with one id, whichever comes first', async () => {
    const id = await pay('order-twins')
    const twins = [
      { settlementId: 'twin', paymentId: id },
      { settlementId: 'twin', paymentId: id, minor: 100n },
    ]
    const amounts: bigint[] = []
    for (const lines of [twins, twins.toReversed()]) {
      await run.forget()
      await run.file(lines)
      assert.ok((await run.records()).twin!.discrepancies.includes('CHANGED'))
      const rows = await run.sql<{ amount_minor: bigint }>(
        'select amount_minor from tollgate.settlement_record',
      )
      amounts.push(...rows.map(({ amount_minor: minor }) => minor))
    }
    assert.equal(amounts.length, 2)
    assert.equal(amounts[0], amounts[1])
  })

  test('keep an assignment that an operator makes during a retry', async () => {
    await run.forget()
    await run.file([{ settlementId: 'raced', merchantTransactionId: 'order-raced' }])
    const [record] = await run.sql<{ id: string }>('select id from tollgate.settlement_record')
    const chosen = await pay('order-chosen')
    await pay('order-raced')
    onFaultPoint(async (point) => {
      if (point === 'settlement-matched') await assign(run.engine, record!.id, [chosen], by)
    })
    await run.again()
    assert.deepEqual((await run.records()).raced!.matches, { [chosen]: 9200n })
  })

  for (const point of [
    'settlement-matched',
    'settlement-recorded',
    'settlement-decided',
  ] as const) {
    test(`are the same after a death at ${point}`, async () => {
      const id = await pay(`order-death-${point}`)
      const lines = [
        { settlementId: 'one', paymentId: id },
        { settlementId: 'two', paymentId: id },
        { settlementId: 'three', merchantTransactionId: 'order-unknown' },
      ]
      await run.forget()
      await run.file(lines)
      const whole = await run.records()
      await run.forget()
      const fileId = await run.stage(lines)
      dieAt(point)
      await assert.rejects(run.decideFile(fileId), /died/)
      onFaultPoint(undefined)
      const [{ state } = { state: '' }] = await run.sql<{ state: string }>(
        'select state from tollgate.settlement_file where id = $1',
        [fileId],
      )
      if (state === 'staged') assert.equal(await run.decideFile(fileId), true)
      assert.deepEqual(await run.records(), whole)
      assert.deepEqual(whole.one!.discrepancies, ['DUPLICATE_SETTLEMENT'])
    })
  }

  test('write nothing once another process holds the scope', async () => {
    await run.forget()
    const id = await pay('order-fence')
    const fileId = await run.stage([{ settlementId: 'fenced', paymentId: id }])
    onFaultPoint(async (point) => {
      if (point === 'settlement-matched') {
        await run.sql('update tollgate.settlement_scope set lease = lease + 1')
      }
    })
    assert.equal(await run.decideFile(fileId), false)
    assert.deepEqual(await run.records(), {})
  })

  test('match references that look like card numbers, and store none of these', async () => {
    await run.forget()
    const ref = '4012888888881881'
    const other = '4111111111111111'
    const order = 'no 5500005555555559 x'
    const paid = await pay('order-masked-1', { amount: '61.01' })
    const another = await pay('order-masked-2', { amount: '61.02' })
    const ordered = await pay(order, { amount: '61.03' })
    for (const [id, name] of [
      [paid, ref],
      [another, other],
    ]) {
      await run.sql(
        `update tollgate.payment set answer = jsonb_set(answer, '{refs,reference}', to_jsonb($2::text))
         where id = $1`,
        [id, name],
      )
    }
    await run.file([
      { settlementId: 'a', minor: 6101n, refs: [` ${ref}`] },
      {
        ...{ settlementId: 'b', minor: 6102n, refs: [other], date: today(100) },
        ...{ recordType: 'CHARGEBACK', cashflow: 'NEG' },
      },
      { settlementId: 'c', minor: 6103n, merchantTransactionId: order.toUpperCase() },
      { settlementId: 'd', minor: 6104n, refs: ['4012078888881881'] },
    ])
    const { a, b, c, d } = await run.records()
    assert.deepEqual(
      [a?.candidates, b?.candidates, c?.candidates, d?.status],
      [[paid], [another], [ordered], 'NOT_MATCHED'],
    )
    assert.deepEqual(
      [a?.tier, b?.effect, c?.tier],
      ['acquirer-reference', 'open', 'merchant-reference'],
    )
    const stored = JSON.stringify(
      await run.sql('select ref1, merchant_transaction_id from tollgate.settlement_record'),
    )
    assert.doesNotMatch(stored, /4012888888881881|4111111111111111|5500005555555559/)
  })

  test('keep several readings of a masked reference when they are tried again', async () => {
    await run.forget()
    const number = '4222222222222220'
    const two = [await pay(number, { amount: '62.01' }), await pay(number, { amount: '62.01' })]
    const date = today(100)
    await run.file([{ settlementId: 's', minor: 6201n, merchantTransactionId: number, date }])
    assert.deepEqual((await run.records()).s?.candidates, two.sort())
    await run.again()
    assert.deepEqual((await run.records()).s?.candidates, two)
  })

  test('match a payment that was approved after the first try', async () => {
    await run.forget()
    const reference = 'order-retry'
    await run.file([{ settlementId: 'early', merchantTransactionId: reference }])
    assert.equal((await run.records()).early!.status, 'NOT_MATCHED')
    const id = await pay(reference)
    await run.again()
    assert.deepEqual((await run.records()).early!.matches, { [id]: 9200n })
    assert.deepEqual(await listed(run, 'NOT_MATCHED'), [])
  })

  test('are not tried again after 30 days', async () => {
    await run.forget()
    await run.file([{ settlementId: 'old', merchantTransactionId: 'order-old' }])
    await run.sql("update tollgate.settlement_record set retry_until = now() - interval '1 minute'")
    await pay('order-old')
    await run.again()
    assert.equal((await run.records()).old!.status, 'NOT_MATCHED')
  })

  test('give a composite match up once another record names the payment', async () => {
    await run.forget()
    const id = await pay('order-composite', { amount: '47.11' })
    const card = { minor: 4711n, last4: '0000', brand: 'VISA' }
    await run.file([{ settlementId: 'guess', ...card }])
    assert.deepEqual((await run.records()).guess!.matches, { [id]: 4711n })
    await run.file([{ settlementId: 'guess-2', ...card }])
    const both = await run.records()
    assert.deepEqual(both.guess!.discrepancies, ['DUPLICATE_SETTLEMENT'])
    assert.deepEqual(both['guess-2']!.discrepancies, ['DUPLICATE_SETTLEMENT'])
    await run.file([{ settlementId: 'certain', minor: 4711n, paymentId: id }])
    await run.again()
    const now = await run.records()
    for (const name of ['guess', 'guess-2']) {
      assert.equal(now[name]!.status, 'NOT_MATCHED')
      assert.deepEqual([now[name]!.matches, now[name]!.discrepancies], [{}, []])
    }
    assert.deepEqual(now.certain!.discrepancies, [])
  })

  test('decide a guess again after its 30 days, once a certain record has its payment', async () => {
    await run.forget()
    const id = await pay('order-guess-late', { amount: '51.11' })
    const guess = { settlementId: 'guess', minor: 5111n, last4: '0000', brand: 'VISA' }
    assert.equal((await run.recordOf(guess)).tier, 'composite')
    await run.sql('update tollgate.settlement_record set retry_until = now()')
    await run.again()
    assert.deepEqual(
      await run.sql('select id from tollgate.settlement_record where retry_until is not null'),
      [],
    )
    await run.file([{ settlementId: 'certain', minor: 5111n, paymentId: id }])
    await run.again()
    const records = await run.records()
    assert.deepEqual([records.certain?.candidates, records.guess?.status], [[id], 'NOT_MATCHED'])
  })

  test('list a guess that would change its payment, until an operator confirms it', async () => {
    await run.forget()
    const sale = await pay('order-guess-dispute', { amount: '53.11' })
    const plain = await pay('order-guess-plain', { amount: '53.12' })
    const guess = { minor: 5311n, last4: '0000', brand: 'VISA' }
    const file = await run.file([
      { settlementId: 'cb', ...guess, recordType: 'CHARGEBACK', cashflow: 'NEG' },
      { settlementId: 'plain', ...guess, minor: 5312n },
    ])
    const records = await run.records()
    assert.deepEqual(
      [records.cb?.tier, records.cb?.candidates, records.cb?.effect, records.plain?.candidates],
      ['composite', [sale], 'none', [plain]],
    )
    const listed = async () =>
      (await run.gateway.operator.attention(100))
        .filter(({ detail }) => detail.file === file)
        .map(({ detail }) => [detail.exception, detail.lines])
    assert.deepEqual(await listed(), [['UNCONFIRMED', [1]]])
    const exceptions = await run.gateway.settlement.exceptions({ fileId: file })
    assert.deepEqual(
      exceptions.map(({ recordType, isUnconfirmed }) => [recordType, isUnconfirmed]),
      [['CHARGEBACK', true]],
    )
    await run.again()
    assert.deepEqual(await listed(), [['UNCONFIRMED', [1]]])
    const { steps } = await run.gateway.payments.steps(sale)
    assert.match(
      steps.find(({ name }) => name === 'settlement')!.text ?? '',
      /^CHARGEBACK .*, which may be about another payment$/,
    )
    await assign(run.engine, exceptions[0]!.id, [sale], by)
    assert.deepEqual([await listed(), (await run.records()).cb?.effect], [[], 'open'])
  })

  test('stand on the operators list, one entry for each file and kind', async () => {
    await run.forget()
    const lines = Array.from({ length: 12 }, (_, index) => ({
      ...{ settlementId: `unknown-${index}`, merchantTransactionId: `order-unknown-${index}` },
    }))
    const fileId = await run.file(lines)
    const entries = await listed(run, 'NOT_MATCHED')
    assert.equal(entries.length, 1)
    assert.equal(entries[0]!.reference, `NOT_MATCHED ${fileId}`)
    const { file, lines: shown, count, do: advice } = entries[0]!.detail
    assert.deepEqual([file, shown, count], [fileId, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 12])
    assert.match(String(advice), /Assign/)
  })

  test('balance each batch, and list a payout that differs from its records', async () => {
    await run.forget()
    const id = await pay('order-batch')
    const fileId = await run.stage([
      { settlementId: 'b-1', paymentId: id, batch: 'payout-7', fee: 100n },
    ])
    await batchLine(run, fileId, 'payout', 'POS', 9000)
    assert.equal(await run.decideFile(fileId), true)
    const [batch] = await batches(run)
    assert.deepEqual([batch!.name, batch!.is_balanced], ['payout-7', false])
    const [entry] = await listed(run, 'CONTROL')
    assert.equal(entry!.reference, `CONTROL ${batch!.id}`)
    assert.match(String(entry!.detail.expected), /^91.00 EUR/)
    assert.match(String(entry!.detail.came), /^90.00 EUR/)
    // A later file brings the missing line.
    const next = await run.stage([])
    await batchLine(run, next, 'reserve-held', 'NEG', 100)
    assert.equal(await run.decideFile(next), true)
    assert.equal((await batches(run))[0]!.is_balanced, true)
    assert.deepEqual(await listed(run, 'CONTROL'), [])
  })

  test('show how an assigned payment differs from its record', async () => {
    await run.forget()
    const euro = await pay('order-differs-1', { amount: '47.00' })
    const dollar = await pay('order-differs-2', { amount: '100.00', currency: 'USD' })
    const declined = await pay('order-differs-3', { amount: '100.00' })
    await run.sql("update tollgate.payment set state = 'declined' where id = $1", [declined])
    const assignedLine = async (more: object, settlementId: string, ...ids: string[]) => {
      const line = { settlementId, minor: 10000n, merchantTransactionId: 'none' }
      await run.file([{ ...line, ...more }])
      const [record] = await run.sql<{ id: string }>(
        'select id from tollgate.settlement_record where settlement_id = $1',
        [settlementId],
      )
      await assign(run.engine, record!.id, ids, by)
      return (await run.records())[settlementId]!
    }
    const assigned = async (settlementId: string, ...ids: string[]) =>
      (await assignedLine({}, settlementId, ...ids)).discrepancies
    assert.deepEqual(await assigned('amount', euro), ['AMOUNT'])
    assert.deepEqual(await assigned('currency', dollar), ['CURRENCY'])
    assert.deepEqual(await assigned('state', declined), ['STATE'])
    const half = await pay('order-differs-4', { amount: '53.00' })
    const rest = await pay('order-differs-5', { amount: '47.00' })
    assert.deepEqual(await assigned('none', half, rest), [])
    const reversed = await pay('order-differs-7', { amount: '100.00' })
    await run.gateway.payments.followUp(reversed, { paymentType: 'RV' } as never)
    assert.deepEqual(await assigned('reversed', reversed), ['AMOUNT', 'STATE'])
    const open = await pay('order-differs-6', { amount: '100.00' })
    await run.sql("update tollgate.payment set final_by = 'event' where id = $1", [open])
    const taken = await assignedLine({ cashflow: 'NEG' }, 'taken', open)
    assert.deepEqual([taken.discrepancies, taken.effect], [['STATE'], 'none'])
    assert.deepEqual(taken.matches, { [open]: 0n })
  })

  test('are read again when an operator asks, with an audit row', async () => {
    await run.forget()
    const fileId = await run.file([{ settlementId: 'again', merchantTransactionId: 'order-again' }])
    await rerun(run.engine, fileId, by)
    const [due] = await run.sql<{ ref: string }>(
      "select ref from tollgate.timer where kind = 'settlement-retry' and due_at <= now()",
    )
    assert.equal(due!.ref, `${await run.scope()} all`)
    const [file] = await run.sql<{ state: string }>('select state from tollgate.settlement_file')
    assert.equal(file!.state, 'arrived')
    await assert.rejects(rerun(run.engine, fileId, by), { code: '700.400.580' })
    const [audit] = await run.sql<{ actor: string }>(
      "select actor from tollgate.audit where action = 'settlement-file.rerun'",
    )
    assert.equal(audit!.actor, 'alice')
  })

  test('count a crowd of payments with one name instead of comparing it', async () => {
    await run.forget()
    const first = await pay('order-crowd')
    await run.sql(
      `insert into tollgate.payment (id, channel_id, entity_id, root_id, account_id, short_no, amount_minor, created_at,
         currency, payment_type, effect, mode, method, brand, connector, attempt_key, merchant_transaction_id, state,
         result_code)
       select made.id, channel_id, entity_id, made.id, account_id, 900000000000 + made.no, amount_minor, created_at,
         currency, payment_type, effect, mode, method, brand, connector, made.id::text, merchant_transaction_id,
         state, result_code
       from tollgate.payment
       cross join lateral (
         select no, (left(replace(payment.id::text, '-', ''), 20) || lpad(to_hex(no), 12, '0'))::uuid as id
         from generate_series(1, 120) as serial (no)) as made
       where payment.id = $1`,
      [first],
    )
    const record = await run.recordOf({ merchantTransactionId: 'order-crowd' })
    assert.deepEqual(
      [record.status, record.count, record.candidates.length],
      ['MULTIPLE_MATCHES', 121, 100],
    )
    assert.deepEqual(record.candidates, [...record.candidates].sort())
  })
})

/** Dies once, at a boundary. */
function dieAt(at: FaultPoint): void {
  onFaultPoint((point) => {
    if (point === at) throw new Error('the process died')
  })
}

/** A channel of another merchant, with an account of the same acquirer under another number. */
async function anotherMerchant(run: MatchingRun): Promise<string> {
  const { entities } = run.gateway
  const merchant = await entities.create({
    kind: 'merchant',
    name: 'Other',
    parentId: run.division,
  })
  const channelId = await entities.create({ kind: 'channel', name: 'Other', parentId: merchant })
  const settings = { number: 'merchant-2' }
  await entities.createAccount({ channelId, connector: scriptedName, mode: 'EXTERNAL', settings })
  return channelId
}

async function shortIdOf(run: MatchingRun, id: string): Promise<string> {
  return (await run.gateway.payments.get(id)).shortId
}

type Entry = { reference: string; detail: Record<string, unknown> }

const listed = (run: MatchingRun, kind: string) =>
  run.sql<Entry>(
    `select reference, detail from tollgate.attention
     where kind = 'settlement' and resolved_at is null and reference like $1`,
    [`${kind} %`],
  )

const batches = (run: MatchingRun) =>
  run.sql<{ id: string; name: string; is_balanced: boolean | null }>(
    'select id, name, is_balanced from tollgate.settlement_batch',
  )

async function batchLine(
  run: MatchingRun,
  fileId: string,
  kind: string,
  cashflow: string,
  minor: number,
): Promise<void> {
  await run.sql(
    `insert into tollgate.settlement_batch_line (id, scope_id, file_id, line, key, content, kind, cashflow, batch,
       settlement_date, minor, currency)
     values ($1::uuid, $2, $3, 99, uuid_send($1::uuid), uuid_send($1::uuid), $4, $5, 'payout-7', current_date, $6, 'EUR')`,
    [newId(), await run.scope(), fileId, kind, cashflow, minor],
  )
}
