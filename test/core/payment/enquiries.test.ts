import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type Context,
  declined,
  type Operation,
  type Outcome,
  type Supports,
  unknown,
} from '@tollgate/plugin-kit'
import { GatewayError } from '../../../core/index.ts'
import {
  type AcquirerRun,
  approvedAs,
  enquire,
  message,
  processed,
  type Script,
  scriptedAcquirer,
  sentAgain,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { balanceOf, checkBooks, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'

const undecided = '000.200.001'
const charged = '000.100.112'
const notCharged = '900.100.400'
const eur = (amount: string) => ({ amount, currency: 'EUR' as const })

/** The request was sent, and the answer is missing. */
const lost = (_: Operation, context: Context) => {
  context.sending()
  return unknown('the line went dead')
}
const notFound = () => ({ is: 'notFound' }) as const

describe('enquiries', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer()
  })
  after(() => closeChecked(run))

  const open = async (reference: string, script: Script) => {
    const answer = await run.debit(reference, { debit: lost, ...script })
    assert.equal(answer.result.code, undecided)
    return answer.id
  }
  /** Makes an attempt old enough for "not found" to count. */
  const age = async (id: string) =>
    run.sql(
      `update tollgate.attempt set sent_at = now() - interval '1 hour' where payment_id = $1`,
      [id],
    )
  const attention = async (id: string) =>
    (await run.gateway.attention()).filter((row) => row.payment_id === id).map((row) => row.kind)

  test("an enquiry settles the payment with the acquirer's outcome, approved or declined", async () => {
    const done = await open('found-approved', { enquire: approvedAs })
    assert.equal((await enquire(run, done)).result.code, charged)
    const refused = await open('found-declined', { enquire: () => declined('800.100.155') })
    assert.equal((await enquire(run, refused)).result.code, '800.100.155')
    const rows = await run.sql('select id from tollgate.instrument where id = $1', [refused])
    assert.deepEqual(rows, [], 'the number of a declined payment is erased')
  })

  test('"not found" right after sending proves nothing: no reversal is sent, and a later approval counts', async () => {
    let found: typeof notFound | typeof approvedAs = notFound
    const id = await open('appears-late', { enquire: (operation) => found(operation) })
    assert.equal((await enquire(run, id)).result.code, undecided)
    assert.deepEqual(run.acquirer.of('appears-late'), ['debit', 'enquire'])
    found = approvedAs
    assert.equal((await enquire(run, id)).result.code, charged)
  })

  test('"not found" past the visibility delay reverses the key, then declines', async () => {
    const id = await open('never-there', { enquire: notFound })
    await age(id)
    const declinedNow = await enquire(run, id)
    assert.equal(declinedNow.result.code, notCharged)
    assert.deepEqual(run.acquirer.of('never-there'), ['debit', 'enquire', 'reverseByKey'])
    assert.deepEqual(await attention(id), [])
  })

  test('a refused reversal leaves the payment undecided and listed at once', async () => {
    const id = await open('cannot-undo', {
      reverseByKey: () => ({ is: 'refused', why: 'too late' }),
    })
    await age(id)
    assert.equal((await enquire(run, id)).result.code, undecided)
    assert.deepEqual(await attention(id), ['undecided'])
    await enquire(run, id)
    assert.deepEqual(await attention(id), ['undecided'], 'listed once')
    const [row] = await run.sql<{ hours: number }>(
      `select extract(epoch from alarm_at - at)::integer / 3600 as hours from tollgate.attention where payment_id = $1`,
      [id],
    )
    assert.equal(row?.hours, 72, 'the alarm is raised after 72 hours')
  })

  test('an entry that settles itself leaves the list', async () => {
    let found: typeof notFound | typeof approvedAs = notFound
    const id = await open('found-after-all', {
      enquire: (operation) => found(operation),
      reverseByKey: () => ({ is: 'unknown', why: 'no answer' }),
    })
    await age(id)
    await enquire(run, id)
    assert.deepEqual(await attention(id), ['undecided'])
    found = approvedAs
    assert.equal((await enquire(run, id)).result.code, charged)
    assert.deepEqual(await attention(id), [])
  })

  test('an enquiry that throws or is unreadable changes nothing', async () => {
    for (const [reference, answer] of Object.entries({
      'enquiry-throws': () => {
        throw new Error('teapot')
      },
      'enquiry-garbage': () => 'approved' as never,
    })) {
      const id = await open(reference, { enquire: answer })
      await age(id)
      assert.equal((await enquire(run, id)).result.code, undecided)
      assert.deepEqual(
        run.acquirer.of(reference),
        ['debit', 'enquire'],
        'nothing is reversed without proof',
      )
    }
  })

  test('an enquiry that answers "not sent" proves as little as "not found"', async () => {
    const id = await open('says-not-sent', {
      enquire: () => ({ is: 'notSent', why: 'never saw it' }),
    })
    assert.equal((await enquire(run, id)).result.code, undecided)
  })

  const ladder = [10, 60, 300, 3600, 86_400, 86_400]
  const nextLook = async (key: string) => {
    const [row] = await run.sql<{ seconds: number; at: Date }>(
      `select round(extract(epoch from due_at - now()))::integer as seconds, due_at as at
       from tollgate.timer where kind = 'look' and ref = $1`,
      [key],
    )
    return row!
  }
  const attemptOf = async (key: string) => {
    const [row] = await run.sql<{ enquiries: number; takeBacks: number; isFree: boolean }>(
      `select enquiries, take_backs as "takeBacks", lease_until is null as "isFree"
       from tollgate.attempt where key = $1`,
      [key],
    )
    return row!
  }
  const assertNext = async (key: string, seconds: number) => {
    const next = await nextLook(key)
    assert.ok(Math.abs(next.seconds - seconds) <= 3, `${next.seconds} s in place of ${seconds} s`)
  }
  /** Lets the engine look by itself, and waits for the end of that. */
  const look = async (key: string, count: 'enquiries' | 'takeBacks', no: number) => {
    await run.sql(`update tollgate.timer set due_at = now() where kind = 'look' and ref = $1`, [
      key,
    ])
    await until(async () => {
      const now = await attemptOf(key)
      return now[count] === no && now.isFree ? true : undefined
    })
  }

  test('enquiries follow the ladder: 10 s, 1 min, 5 min, 1 h, then daily', async () => {
    const id = await open('keeps-asking', { enquire: lost })
    const key = await run.keyOf(id)
    for (const [no, seconds] of ladder.entries()) {
      await assertNext(key, seconds)
      await look(key, 'enquiries', no + 1)
    }
  })

  test('questions of follow-ups, operators and unproven messages move no look to a later time', async () => {
    const id = await open('asked-by-others', { enquire: notFound })
    const key = await run.keyOf(id)
    const before = await nextLook(key)
    for (let no = 1; no <= 4; no += 1) await enquire(run, id)
    await run.operator.enquire(id, { by: 'ada', reason: 'a call of the merchant' })
    const outcome = { is: 'approved', refs: {} } as const
    for (let no = 1; no <= 3; no += 1) {
      const eventId = `forged-${no}`
      const forged = message({ eventId, key, outcome }, {})
      await sentAgain(run.gateway.inbound('scripted', run.account, forged))
      assert.equal(await processed(run, eventId), 'enquired')
    }
    assert.ok(run.acquirer.of('asked-by-others').length >= 8, 'the acquirer was asked each time')
    assert.deepEqual((await nextLook(key)).at <= before.at, true)
    assert.equal((await attemptOf(key)).enquiries, 0)
    await look(key, 'enquiries', 1)
    await assertNext(key, 60)
  })

  test('tries to take a late success back have a ladder of their own', async () => {
    const id = await open('taken-back-slowly', {
      enquire: notFound,
      reverseByKey: () => unknown('no answer'),
    })
    const key = await run.keyOf(id)
    for (let no = 1; no <= 4; no += 1) await look(key, 'enquiries', no)
    const tell = async (eventId: string, outcome: Outcome) => {
      await run.gateway.inbound('scripted', run.account, message({ eventId, key, outcome }))
      return processed(run, eventId)
    }
    assert.equal(await tell('over', declined('800.100.153')), 'settled')
    assert.equal(await tell('done', { is: 'approved', refs: { reference: 'x' } }), 'settled')
    await until(async () => ((await attemptOf(key)).isFree ? true : undefined))
    for (let no = 1; no <= 3; no += 1) {
      const { takeBacks } = await attemptOf(key)
      await assertNext(key, ladder[takeBacks - 1]!)
      await look(key, 'takeBacks', takeBacks + 1)
    }
  })

  test('many simultaneous enquiries ask the acquirer once: only the holder of the lease asks', async () => {
    const id = await open('asked-by-many', {
      enquire: (operation) => new Promise((tell) => setImmediate(tell, approvedAs(operation))),
    })
    await Promise.all(Array.from({ length: 20 }, () => enquire(run, id).catch(() => undefined)))
    assert.deepEqual(run.acquirer.of('asked-by-many'), ['debit', 'enquire'])
    assert.equal((await run.gateway.payments.get(id)).result.code, charged)
  })

  test('an undecided capture keeps its reservation until its outcome is known', async () => {
    const { id } = await run.debit('held-authorisation', {}, { paymentType: 'PA' })
    run.acquirer.tell('held-capture', { capture: lost, enquire: () => declined('800.100.155') })
    const capture = await run.gateway.payments.capture(id, {
      ...eur('60.00'),
      merchantTransactionId: 'held-capture',
    })
    assert.equal(capture.result.code, undecided)
    assert.equal((await balanceOf(run, id)).capturing, 6000n)
    await assert.rejects(run.gateway.payments.capture(id, eur('60.00')), { code: '700.400.100' })
    await assert.rejects(run.gateway.payments.reverse(id), { code: '700.400.300' })
    assert.equal((await enquire(run, capture.id)).result.code, '800.100.155')
    assert.equal((await run.gateway.payments.capture(id, eur('92.00'))).result.code, charged)
  })

  test('an acquirer without idempotent keys gets each follow-up at most once', async () => {
    const { id } = await run.debit('resend-debit')
    run.acquirer.tell('resend-refund', { refund: lost })
    const refund = await run.gateway.payments.refund(id, {
      ...eur('5.00'),
      merchantTransactionId: 'resend-refund',
    })
    await age(refund.id)
    assert.equal((await enquire(run, refund.id)).result.code, notCharged)
    assert.deepEqual(run.acquirer.of('resend-refund'), ['refund', 'enquire', 'reverseByKey'])
    assert.equal((await balanceOf(run, id)).refunded, 0n)
  })
})

describe('acquirers that are idempotent by key', () => {
  test("without reversals a missing refund is sent again under the same key, a shopper's payment never", async () => {
    const acquirer = scriptedAcquirer({ key: { by: 'key', ttlMs: 24 * 3600_000 } }, 'reverseByKey')
    const run = await startWithAcquirer({ acquirer })
    const age = (id: string, hours = 1) =>
      run.sql(
        `update tollgate.attempt set sent_at = now() - make_interval(secs => $2::double precision * 3600) where payment_id = $1`,
        [id, hours],
      )
    try {
      const { id } = await run.debit('by-key-debit')
      let sends = 0
      const once = (operation: Operation, context: Context) => {
        sends += 1
        return sends === 1 ? lost(operation, context) : approvedAs(operation)
      }
      acquirer.tell('by-key-refund', { refund: once })
      const refund = await run.gateway.payments.refund(id, {
        ...eur('5.00'),
        merchantTransactionId: 'by-key-refund',
      })
      await age(refund.id)
      assert.equal((await enquire(run, refund.id)).result.code, charged)
      assert.deepEqual(acquirer.of('by-key-refund'), ['refund', 'enquire', 'refund'])
      const keys = acquirer.calls.filter((call) => call.reference === 'by-key-refund')
      assert.equal(new Set(keys.map((call) => call.operation.key)).size, 1)

      const shopper = await run.debit('by-key-shopper', { debit: lost })
      await age(shopper.id)
      assert.equal((await enquire(run, shopper.id)).result.code, undecided)
      assert.deepEqual(acquirer.of('by-key-shopper'), ['debit', 'enquire'])

      acquirer.tell('by-key-old', { refund: lost })
      const old = await run.gateway.payments.refund(id, {
        ...eur('5.00'),
        merchantTransactionId: 'by-key-old',
      })
      await age(old.id, 23.5)
      await enquire(run, old.id)
      assert.deepEqual(
        acquirer.of('by-key-old'),
        ['refund', 'enquire'],
        "the acquirer's memory of keys is not used in its last hour",
      )
      await checkBooks(run, { quiet: false })
    } finally {
      await run.close()
    }
  })

  test('where refunds alone have no keys, a capture is sent again and a refund is not', async () => {
    const key: Supports['key'] = (kind) =>
      kind === 'refund' ? { by: 'none' } : { by: 'key', ttlMs: 24 * 3600_000 }
    const acquirer = scriptedAcquirer({ key }, 'reverseByKey')
    const run = await startWithAcquirer({ acquirer })
    try {
      for (const [kind, on] of [
        ['refund', 'DB'],
        ['capture', 'PA'],
      ] as const) {
        const { id } = await run.debit(`some-keys-${on}`, {}, { paymentType: on })
        const reference = `some-keys-${kind}`
        const answers = [lost, approvedAs]
        const answer = (...given: Parameters<typeof lost>) => answers.shift()!(...given)
        acquirer.tell(reference, { [kind]: answer })
        const order = { ...eur('5.00'), merchantTransactionId: reference }
        const follow = await run.gateway.payments[kind](id, order)
        await run.sql(
          "update tollgate.attempt set sent_at = now() - interval '1 hour' where payment_id = $1",
          [follow.id],
        )
        await enquire(run, follow.id)
        const again = kind === 'capture' ? ['capture'] : []
        assert.deepEqual(acquirer.of(reference), [kind, 'enquire', ...again])
      }
    } finally {
      await run.close()
    }
  })

  for (const { kind, type, on } of [
    { kind: 'refund', type: 'RF', on: 'DB' },
    { kind: 'capture', type: 'CP', on: 'PA' },
    { kind: 'reverse', type: 'RV', on: 'PA' },
  ] as const) {
    test(`a ${kind} whose repeat is refused stays open and listed, since the first request may have been carried out`, async () => {
      const acquirer = scriptedAcquirer(
        { key: { by: 'key', ttlMs: 24 * 3600_000 } },
        'reverseByKey',
      )
      const run = await startWithAcquirer({ acquirer })
      try {
        const { id } = await run.debit(`on-${kind}`, {}, { paymentType: on })
        // The acquirer checks the API key before it looks for the idempotency key.
        const answers = [lost, () => declined('900.100.200'), approvedAs]
        const reference = `refused-${kind}`
        acquirer.tell(reference, {
          [kind]: (operation: Operation, context: Context) => {
            context.sending()
            return answers.shift()!(operation, context)
          },
        })
        const follow = await run.gateway.payments.followUp(id, {
          paymentType: type,
          ...eur('92.00'),
          merchantTransactionId: reference,
        } as never)
        const held = await balanceOf(run, id)
        await run.sql(
          `update tollgate.attempt set sent_at = now() - interval '1 hour' where payment_id = $1`,
          [follow.id],
        )
        assert.equal((await enquire(run, follow.id)).result.code, undecided)
        assert.deepEqual(acquirer.of(reference), [kind, 'enquire', kind])
        assert.deepEqual(await balanceOf(run, id), held, 'its money stays reserved')
        const [entry] = await run.gateway.attention()
        assert.deepEqual([entry?.kind, entry?.payment_id], ['undecided', follow.id])
        assert.match(JSON.stringify(entry?.detail), /refused the repeat/)
        await assert.rejects(
          run.gateway.payments.followUp(id, { paymentType: type, ...eur('92.00') } as never),
          GatewayError,
        )
        // The API key is renewed, and the acquirer remembers the idempotency key.
        assert.equal((await enquire(run, follow.id)).result.code, charged)
        assert.deepEqual(await run.gateway.attention(), [])
        await checkBooks(run, { quiet: false })
      } finally {
        await run.close()
      }
    })
  }

  test('a repeat that the acquirer refuses under its key ends the operation', async () => {
    const acquirer = scriptedAcquirer({ key: { by: 'key', ttlMs: 24 * 3600_000 } }, 'reverseByKey')
    const run = await startWithAcquirer({ acquirer })
    try {
      const { id } = await run.debit('of-key-debit')
      const answers = [lost, () => declined('800.100.155', { ofKey: true })]
      acquirer.tell('of-key-refund', {
        refund: (operation, context) => {
          context.sending()
          return answers.shift()!(operation, context)
        },
      })
      const refund = await run.gateway.payments.refund(id, {
        ...eur('5.00'),
        merchantTransactionId: 'of-key-refund',
      })
      await run.sql(`update tollgate.attempt set sent_at = now() - interval '1 hour'`)
      assert.equal((await enquire(run, refund.id)).result.code, '800.100.155')
      assert.deepEqual(await run.gateway.attention(), [])
      assert.equal((await balanceOf(run, id)).refunding, 0n)
      await checkBooks(run, { quiet: false })
    } finally {
      await run.close()
    }
  })

  test('without enquiries the key is reversed; without reversals operators decide', async () => {
    for (const without of ['enquire', 'reverseByKey'] as const) {
      const run = await startWithAcquirer({ acquirer: scriptedAcquirer({}, without) })
      try {
        const { id } = await run.debit('half-a-contract', { debit: lost })
        await run.sql(`update tollgate.attempt set sent_at = now() - interval '1 hour'`)
        const { result } = await enquire(run, id)
        const listed = (await run.gateway.attention()).map((row) => row.kind)
        if (without === 'enquire') assert.deepEqual([result.code, listed], [notCharged, []])
        else assert.deepEqual([result.code, listed], [undecided, ['undecided']])
      } finally {
        await run.close()
      }
    }
  })
})
