/** Card testing against whole engines: the acquirer's requests are counted. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { declined, pending } from '@tollgate/plugin-kit'
import type { Reason } from '@tollgate/schemas'
import { type Gateway, GatewayError, type PaymentView } from '../../core/index.ts'
import { type AcquirerRun, message, processed, startWithAcquirer } from '../rig/acquirer.ts'
import { closeChecked } from '../rig/books.ts'
import { card, until } from '../rig/gateway.ts'
import { cardOf } from '../rig/payment-request.ts'
import { type Line, lineTo } from '../rig/proxy.ts'
import { withCheckDigit } from '../rig/same-ends.ts'

const thresholds = { number: 10, address: 12, bin: 40, channel: 100, token: 100 }
const tries = 200
const wrongCvv = '800.100.153'
const says = (reason: Reason) => ({ debit: () => declined(reason) })

/** The result of an attempt: the result code, or `429` after a refusal. */
type Try = { readonly code: string; readonly waitSeconds?: number | undefined }

describe('card testing', () => {
  let run: AcquirerRun
  let other: Gateway
  let channel: string
  let merchant: string
  let line: Line
  before(async () => {
    const through = async (url: string) => {
      line = await lineTo(url)
      return line.url
    }
    run = await startWithAcquirer({ pool: {}, cardTesting: thresholds, through })
    other = await run.another({ plugins: [run.acquirer.plugin], cardTesting: thresholds })
  })
  after(() => closeChecked(run).finally(() => line.close()))
  // Counts belong to merchants, so each test has its own.
  beforeEach(async () => {
    ;({ merchant, channel } = await shop())
    run.acquirer.tell('', says(wrongCvv))
  })

  async function shop(settings: Record<string, unknown> = {}) {
    const { entities } = run.gateway
    const made = await entities.create({ kind: 'merchant', name: 'Shop', parentId: run.division })
    const id = await entities.create({ kind: 'channel', name: 'Shop', parentId: made, settings })
    await entities.createAccount({
      channelId: id,
      connector: 'scripted',
      mode: 'EXTERNAL',
      settings: {},
    })
    return { merchant: made, channel: id }
  }

  const outcome = (made: Promise<PaymentView>): Promise<Try> =>
    made.then(
      ({ result }) => ({ code: result.code }),
      (error: unknown) => {
        assert.ok(error instanceof GatewayError, String(error))
        if (error.status !== 429) return { code: error.code }
        assert.equal(error.code, '800.120.100')
        assert.match(error.message, /too many requests, try again later/)
        assert.ok((error.retryAfterSeconds ?? 0) >= 1)
        return { code: '429', waitSeconds: error.retryAfterSeconds }
      },
    )

  const fields = (no: number, more: Record<string, unknown> = {}) => ({
    ...card('4200000000000000', { cvv: String(no % 1000).padStart(3, '0') }),
    testMode: 'EXTERNAL',
    entityId: channel,
    ...more,
  })
  const attempt = (
    no: number,
    more: Record<string, unknown> = {},
    on: Gateway = run.gateway,
    key?: string,
  ): Promise<Try> =>
    outcome(
      on.payments.create(
        fields(no, more) as never,
        key === undefined ? {} : { idempotencyKey: key },
      ),
    )

  /** The number of requests to the acquirer for this channel's payments. */
  const carriedOut = async (): Promise<number> => {
    const rows = await run.sql<{ id: string }>(
      'select id from tollgate.payment where channel_id = $1',
      [channel],
    )
    const ids = new Set(rows.map(({ id }) => id))
    const asked = run.acquirer.calls.filter(({ operation }) => ids.has(operation.paymentId))
    assert.equal(asked.length, ids.size, 'a refused attempt is not written either')
    return asked.length
  }
  const all = <T>(count: number, each: (no: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, no) => each(no)))
  const refusedOf = (given: readonly Try[]) => given.filter(({ code }) => code === '429').length

  /** Ten wrong codes, their answers, and the refusal of an eleventh. */
  const fill = async (more: Record<string, unknown> = {}) => {
    for (let no = 0; no < thresholds.number; no += 1) {
      assert.equal((await attempt(no, more)).code, wrongCvv)
    }
    assert.equal((await attempt(999, more)).code, '429')
  }

  test('ten of 200 security codes sent at once on one card reach the acquirer', async () => {
    const answers = await all(tries, (no) => attempt(no))
    assert.equal(await carriedOut(), thresholds.number)
    assert.equal(refusedOf(answers), tries - thresholds.number)
    const { waitSeconds = 0 } = await attempt(0)
    assert.ok(waitSeconds > 23 * 3600 && waitSeconds <= 86_460, String(waitSeconds))
  })

  test('ten security codes reach the acquirer in sequence, with varied amounts, holders, expiries and addresses', async () => {
    const answers: Try[] = []
    for (let no = 0; no < tries; no += 1) {
      answers.push(
        await attempt(no, {
          amount: `${no + 1}.00`,
          card: cardOf('4200000000000000', {
            cvv: String(no).padStart(3, '0'),
            holder: `Holder ${no}`,
            expiryYear: String(2030 + (no % 9)),
          }),
          customer: { ip: `8.8.${no}.4` },
        }),
      )
    }
    assert.equal(await carriedOut(), thresholds.number)
    assert.equal(refusedOf(answers), tries - thresholds.number)
  })

  test('ten security codes reach the acquirer in each of two processes at most, and none after a second', async () => {
    const answers = await all(tries, (no) => attempt(no, {}, no % 2 === 0 ? run.gateway : other))
    assert.ok((await carriedOut()) <= 2 * thresholds.number)
    assert.ok(refusedOf(answers) >= tries - 2 * thresholds.number)
    // A process that saw only some of them refuses by the other one's failures.
    const mixed = await shop()
    channel = mixed.channel
    for (let no = 0; no < thresholds.number; no += 1) await attempt(no)
    await until(async () => ((await attempt(500, {}, other)).code === '429' ? true : undefined))
    assert.ok((await carriedOut()) < 2 * thresholds.number + 1)
  })

  test('a process that starts later knows the failures of the others', async () => {
    await fill()
    const isTold = ({ dimension, failures }: { dimension: string; failures: number }) =>
      dimension === 'number' && Number(failures) >= thresholds.number
    await until(async () => ((await told()).some(isTold) ? true : undefined))
    const third = await run.another({ plugins: [run.acquirer.plugin], cardTesting: thresholds })
    assert.equal((await attempt(1000, {}, third)).code, '429')
    assert.equal(await carriedOut(), thresholds.number)
  })

  const told = () =>
    run.sql<{ dimension: string; value: string; failures: number }>(
      'select dimension, value, failures from tollgate.card_testing where merchant_id = $1',
      [merchant],
    )

  test('ten requests with different idempotency keys reach the acquirer, and a repeat gets its answer', async () => {
    const answers = await all(tries, (no) => attempt(no, {}, run.gateway, `key-${no}`))
    assert.equal(await carriedOut(), thresholds.number)
    assert.equal(refusedOf(answers), tries - thresholds.number)
    const done = answers.findIndex(({ code }) => code === wrongCvv)
    assert.equal((await attempt(done, {}, run.gateway, `key-${done}`)).code, wrongCvv)
    assert.equal((await attempt(777, {}, run.gateway, 'new')).code, '429')
    assert.equal(await carriedOut(), thresholds.number)
  })

  test('ten failures of one card reach the acquirer beside approvals of other cards, which continue', async () => {
    const good = { merchantTransactionId: 'good-sale', card: cardOf('4111111111111111') }
    run.acquirer.tell('good-sale', {})
    const approvals: string[] = []
    for (let no = 0; no < 40; no += 1) {
      await attempt(no)
      approvals.push((await attempt(0, good)).code)
    }
    assert.deepEqual(new Set(approvals), new Set(['000.100.112']))
    assert.equal(await carriedOut(), thresholds.number + 40)
  })

  test('ten failures of one number reach the acquirer over registrations and payments on them', async () => {
    // The simulator verifies; the number always has a wrong code.
    const registered = await all(tries, (no) =>
      outcome(
        run.gateway.registrations.create({
          entityId: channel,
          paymentBrand: 'VISA',
          card: cardOf('4000000000000127', { cvv: String(no).padStart(3, '0') }),
        } as never) as Promise<never>,
      ),
    )
    const rows = await run.sql('select id from tollgate.payment where channel_id = $1', [channel])
    assert.equal(rows.length, thresholds.number)
    assert.equal(refusedOf(registered), tries - thresholds.number)

    const shopTwo = await shop()
    channel = shopTwo.channel
    const ids = await all(3, async () => {
      const made = await run.gateway.registrations.create({
        entityId: channel,
        testMode: 'EXTERNAL',
        paymentBrand: 'VISA',
        card: cardOf('4200000000000000'),
      } as never)
      return made.id
    })
    const paid = await all(tries, (no) =>
      outcome(
        run.gateway.registrations.pay(ids[no % 3]!, {
          entityId: channel,
          amount: '1.00',
          currency: 'EUR',
          paymentType: 'DB',
          testMode: 'EXTERNAL',
          card: { cvv: String(no).padStart(3, '0') },
        } as never),
      ),
    )
    assert.equal(refusedOf(paid), tries - thresholds.number)
    assert.deepEqual(new Set(paid.map(({ code }) => code)), new Set([wrongCvv, '429']))
    // Stored accounts are refused as well, before anything is sent.
    assert.equal((await attempt(1)).code, '429')
  })

  test('an acquirer that answers later gets at most ten open attempts', async () => {
    run.acquirer.tell('', { debit: () => pending('event', { refs: { reference: 'later' } }) })
    const answers: Try[] = []
    for (let no = 0; no < 40; no += 1) answers.push(await attempt(no))
    assert.equal(await carriedOut(), thresholds.number)
    assert.equal(refusedOf(answers), 30)
    // Its declines reach the other process, which counts them by the number's keyed hash.
    const rows = await run.sql<{ attempt_key: string }>(
      'select attempt_key from tollgate.payment where channel_id = $1',
      [channel],
    )
    const [account] = await run.sql<{ id: string }>(
      'select account_id as id from tollgate.payment where channel_id = $1 limit 1',
      [channel],
    )
    await all(rows.length, async (no) => {
      const eventId = `later-${no}`
      const about = { eventId, key: rows[no]!.attempt_key, outcome: declined(wrongCvv) }
      await other.inbound('scripted', account!.id, message(about))
      await processed(run, eventId)
    })
    // Attempts until the other process has heard of the declines are carried out.
    let unheard = 0
    await until(async () => {
      if ((await attempt(1, {}, other)).code === '429') return true
      unheard += 1
      return undefined
    })
    const numbers = await until(async () => {
      const found = (await told()).filter(({ dimension }) => dimension === 'number')
      const failures = found.reduce((sum, row) => sum + row.failures, 0)
      return failures === thresholds.number ? found : undefined
    })
    assert.equal(new Set(numbers.map(({ value }) => value)).size, 1)
    assert.equal(await carriedOut(), thresholds.number + unheard)
  })

  test('many cards from one address are refused at its threshold, and other addresses are not', async () => {
    const cards = ['4200000000000000', '4111111111111111', '5454545454545454', '378282246310005']
    const answers = await all(100, (no) =>
      attempt(no, { card: cardOf(cards[no % 2]!), customer: { ip: '8.8.4.4' } }),
    )
    assert.equal(await carriedOut(), thresholds.address)
    assert.equal(refusedOf(answers), 100 - thresholds.address)
    run.acquirer.tell('good-sale', {})
    const good = {
      merchantTransactionId: 'good-sale',
      paymentBrand: 'MASTER',
      card: cardOf(cards[2]!),
    }
    assert.equal((await attempt(0, { ...good, customer: { ip: '8.8.4.4' } })).code, '429')
    assert.equal((await attempt(0, { ...good, customer: { ip: '8.8.4.5' } })).code, '000.100.112')
    // An address in a private network is no shopper's.
    for (let no = 0; no < 30; no += 1) {
      await attempt(no, { card: cardOf('4005519200000004'), customer: { ip: '10.0.0.1' } })
    }
    assert.equal((await attempt(0, { ...good, customer: { ip: '10.0.0.1' } })).code, '000.100.112')
  })

  test('another merchant with the same card, address and BIN is not refused', async () => {
    await fill({ customer: { ip: '9.9.9.9' } })
    const neighbour = await shop()
    const answer = await attempt(1, { entityId: neighbour.channel, customer: { ip: '9.9.9.9' } })
    assert.equal(answer.code, wrongCvv)
    run.acquirer.tell('good-sale', {})
    const sameBin = { merchantTransactionId: 'good-sale', card: cardOf('4200000000000018') }
    assert.equal((await attempt(1, sameBin)).code, '000.100.112')
  })

  test('a BIN is refused while more of it fails than is approved, and other BINs are not', async () => {
    const number = (no: number) => withCheckDigit(`420000${String(no).padStart(9, '0')}`)
    for (let no = 0; no < thresholds.bin; no += 1) {
      assert.equal((await attempt(no, { card: cardOf(number(no)) })).code, wrongCvv)
    }
    assert.equal((await attempt(0, { card: cardOf(number(5000)) })).code, '429')
    run.acquirer.tell('good-sale', {})
    const good = (no: number) => ({
      merchantTransactionId: 'good-sale',
      card: cardOf(no === 0 ? '4111111111111111' : number(6000 + no)),
    })
    assert.equal((await attempt(0, good(0))).code, '000.100.112')

    // A shop with many sales has many declines.
    channel = (await shop()).channel
    for (let no = 0; no < thresholds.bin + 10; no += 1) {
      assert.equal((await attempt(no, { card: cardOf(number(no)) })).code, wrongCvv)
      // Two sales for each decline.
      for (const sale of [2 * no + 1, 2 * no + 2]) {
        assert.equal((await attempt(no, good(sale))).code, '000.100.112')
      }
    }
  })

  test('approvals without the acquirer, for nothing, or of one card vouch for no other card', async () => {
    const number = (no: number) => withCheckDigit(`420000${String(no).padStart(9, '0')}`)
    run.acquirer.tell('good-sale', {})
    const good = { merchantTransactionId: 'good-sale', card: cardOf(number(7000)) }
    let refused = 0
    for (let no = 0; no < 2 * thresholds.bin; no += 1) {
      if ((await attempt(no, { card: cardOf(number(no)) })).code === '429') refused += 1
      if (no >= thresholds.bin - 1) continue
      for (const more of [0, 1]) {
        const stored = await run.gateway.registrations.create({
          entityId: channel,
          testMode: 'EXTERNAL',
          paymentBrand: 'VISA',
          card: cardOf(number(8000 + 2 * no + more)),
        } as never)
        assert.match(stored.result.code, /^000\./)
      }
      assert.match((await attempt(no, good)).code, /^000\./)
      assert.match((await attempt(no, good)).code, /^000\./)
    }
    assert.equal(refused, thresholds.bin)
  })

  test("another process's approvals stop counting as open within a moment", async () => {
    run.acquirer.tell('', { debit: () => pending('event', { refs: { reference: 'later' } }) })
    for (let no = 0; no < thresholds.number; no += 1) await attempt(no)
    const { code, waitSeconds = 0 } = await attempt(11)
    assert.equal(code, '429')
    assert.ok(waitSeconds > 800 && waitSeconds <= 900, `${waitSeconds} s until they are given up`)
    const rows = await run.sql<{ attempt_key: string; account_id: string }>(
      'select attempt_key, account_id from tollgate.payment where channel_id = $1',
      [channel],
    )
    const outcome = { is: 'approved', refs: {} } as const
    await all(rows.length, async (no) => {
      const eventId = `approved-${no}-${channel}`
      const { attempt_key: key, account_id: account } = rows[no]!
      await other.inbound('scripted', account, message({ eventId, key, outcome }))
      await processed(run, eventId)
    })
    run.acquirer.tell('', {})
    await until(async () => ((await attempt(12)).code === '000.100.112' ? true : undefined))
  })

  test('faults of the acquirer and refusals of the engine do not count', async () => {
    for (const code of ['900.100.100', '800.100.190', '999.999.999', '100.396.101'] as const) {
      run.acquirer.tell('', says(code))
      for (let no = 0; no < 4; no += 1) assert.equal((await attempt(no)).code, code)
    }
    for (let no = 0; no < 20; no += 1) {
      assert.equal((await attempt(no, { amount: '0.00' })).code, '100.550.300')
    }
    run.acquirer.tell('', says(wrongCvv))
    await fill()
  })

  test('a merchant and dimension cause one alarm and one entry, without the number', async () => {
    await fill()
    const logged = run.logs.length
    await all(20, (no) => attempt(no))
    const entries = await until(async () => {
      const found = (await run.gateway.attention()).filter(
        ({ detail }) => detail.merchant === merchant,
      )
      return found.length > 0 ? found : undefined
    })
    assert.equal(entries.length, 1)
    assert.equal(entries[0]?.kind, 'card-testing')
    assert.deepEqual(entries[0]?.detail, {
      why: 'too many payments were declined: attempts are refused',
      merchant,
      dimension: 'number',
      of: '420000…0000',
      failures: thresholds.number,
      threshold: thresholds.number,
    })
    const alarms = run.logs.filter(
      ({ fields: { alarm, merchant: of } }) => alarm === 'card-testing' && of === merchant,
    )
    assert.equal(alarms.length, 1, `${run.logs.length - logged} lines`)
    assert.equal(alarms[0]?.level, 'warn')
    assert.equal(alarms[0]?.fields.security, true)
    const everything = JSON.stringify([run.logs, entries, await told()])
    assert.doesNotMatch(everything, /4200000000000000/)
  })

  test('an operator lifts a block in all processes within two seconds, and it can return', async () => {
    await fill()
    await until(async () => ((await attempt(0, {}, other)).code === '429' ? true : undefined))
    const entry = await until(async () =>
      (await run.gateway.attention()).find(({ detail }) => detail.merchant === merchant),
    )
    const by = { by: 'Alice', reason: 'a shopper with a new card' }
    await run.gateway.operator.resolve(entry.id, by)
    run.acquirer.tell('', {})
    for (const on of [run.gateway, other]) {
      await until(
        async () => ((await attempt(0, {}, on)).code === '000.100.112' ? true : undefined),
        2_000,
      )
    }
    const open = async () =>
      (await run.gateway.attention()).filter(({ detail }) => detail.merchant === merchant)
    assert.deepEqual(await open(), [])
    const [audit] = await run.sql('select actor, action from tollgate.audit where resource = $1', [
      entry.id,
    ])
    assert.deepEqual(audit, { actor: 'Alice', action: 'attention.resolved' })
    run.acquirer.tell('', says(wrongCvv))
    await fill()
    await until(async () => ((await open()).length === 1 ? true : undefined))
  })

  test('a block that is lifted while its process lists it is not listed again', async () => {
    await fill()
    const open = async () =>
      (await run.gateway.attention()).filter(({ detail }) => detail.merchant === merchant)
    const [entry] = await until(async () => ((await open()).length > 0 ? open() : undefined))
    const lists = run.gateway
      .statements()
      .filter(({ text }) => /insert into tollgate\.attention.*'card-testing'/s.test(text))
    assert.equal(lists.length, 1)
    const held = line.hold(lists[0]!.name)
    assert.equal((await attempt(0)).code, '429')
    const letGo = await held
    await run.gateway.operator.resolve(entry!.id, { by: 'Alice', reason: 'a shopper' })
    letGo()
    run.acquirer.tell('', {})
    await until(async () => ((await attempt(0)).code === '000.100.112' ? true : undefined))
    assert.deepEqual(await open(), [])
  })

  test('an entity has its own thresholds, and 0 means never', async () => {
    channel = (await shop({ cardTestingNumber: 2 })).channel
    await all(20, (no) => attempt(no))
    assert.equal(await carriedOut(), 2)
    channel = (await shop({ cardTestingNumber: 0 })).channel
    await all(30, (no) => attempt(no))
    assert.equal(await carriedOut(), 30)
  })

  test('card testing is not checked in test unless it is switched on', async () => {
    const plain = await run.another({ plugins: [run.acquirer.plugin], cardTesting: {} })
    const answers = await all(30, (no) => attempt(no, {}, plain))
    assert.equal(refusedOf(answers), 0)
    assert.deepEqual(await told(), [])
  })
})
