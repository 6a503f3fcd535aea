/** Guesses of a card number of which ten digits are known, by every answer that could tell the right one. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type Gateway, KeyAdministration, localKeys } from '../../../core/index.ts'
import { startGateway, type TestGateway, testKey } from '../../rig/gateway.ts'
import { sameEnds } from '../../rig/same-ends.ts'

const most = 4
const candidates = sameEnds(40)
const secret = candidates[31]!

type Fields = Readonly<Record<string, string>>
type Answer = {
  readonly status: number
  readonly body: { readonly id?: string; readonly result: { readonly code: string } }
}

const money = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
const byCard = (number: string, more: Fields = {}): Fields => ({
  ...money,
  paymentBrand: 'VISA',
  'card.number': number,
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
  'card.cvv': '123',
  ...more,
})
const only = (fields: Fields, beginning: string): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name.startsWith(beginning)))

/** A request by a token of the channel. */
async function sendTo(
  gateway: Gateway,
  channel: string,
  operation: string,
  fields: Fields,
  { key, id, by = 'thief' }: { key?: string; id?: string; by?: string } = {},
): Promise<Answer> {
  const caller = { id: by, entityId: channel }
  const reply = await gateway.call(
    operation as never,
    caller as never,
    {
      ...(id === undefined ? {} : { path: { id } }),
      body: Buffer.from(new URLSearchParams({ entityId: channel, ...fields }).toString()),
      contentType: 'application/x-www-form-urlencoded',
      idempotencyKey: key,
      requestId: 'f'.repeat(32),
    } as never,
  )
  return reply as Answer
}

describe('guesses of a card number', () => {
  let run: TestGateway
  let guessed: Gateway
  let channel: string
  before(async () => {
    run = await startGateway()
  })
  after(() => run.close())
  // Numbers are counted by channel and token: each test has its own, in a process that counted none.
  beforeEach(async () => {
    const { entities } = run.gateway
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Shop',
      parentId: run.division,
    })
    const settings = { distinctNumbers: most, showFingerprint: true }
    channel = await entities.create({ kind: 'channel', name: 'Shop', parentId: merchant, settings })
    guessed = await run.another()
  })

  const send = (
    ...given: Parameters<typeof sendTo> extends [unknown, unknown, ...infer Rest] ? Rest : never
  ) => sendTo(guessed, channel, ...given)

  async function guess(each: (number: string) => Promise<Answer>) {
    const statuses: number[] = []
    for (const number of candidates) statuses.push((await each(number)).status)
    return statuses
  }
  const refusals = (statuses: readonly number[]) => statuses.filter((status) => status === 429)

  test('past the limit a number is refused whatever its Idempotency-Key made', async () => {
    const paid = await send('payments.create', byCard(secret), { key: 'order-1', by: 'shop' })
    assert.equal(paid.status, 200)
    const statuses = await guess((number) =>
      send('payments.create', byCard(number, { 'card.cvv': '999' }), { key: 'order-1' }),
    )
    assert.equal(statuses[candidates.indexOf(secret)], 429)
    assert.equal(refusals(statuses).length, candidates.length - (most - 1))
    const repeated = await send('payments.create', byCard(secret), { key: 'order-1', by: 'shop' })
    assert.equal(repeated.body.id, paid.body.id, 'the shop that came with it gets its answer')
  })

  test('a request that fails validation is compared with its key only for numbers within the limit', async () => {
    const paid = await send('payments.create', byCard(secret), { key: 'order-2', by: 'shop' })
    assert.equal(paid.status, 200)
    await run.gateway.entities.configure(channel, {
      distinctNumbers: most,
      cvvRequired: true,
    })
    guessed = await run.another()
    const { 'card.cvv': _, ...without } = byCard(secret)
    const statuses = await guess((number) =>
      send('payments.create', { ...without, 'card.number': number }, { key: 'order-2' }),
    )
    assert.equal(statuses[candidates.indexOf(secret)], 429)
    assert.equal(refusals(statuses).length, candidates.length - most)
  })

  test('a number beside a reference to another payment counts before its key is looked at', async () => {
    const { 'card.cvv': _, ...account } = byCard(secret, { paymentType: 'PA' })
    const authorised = await send('payments.create', account, { by: 'shop' })
    const more = (number: string): Fields => ({
      ...account,
      'card.number': number,
      amount: '1.00',
      referenceUuid: authorised.body.id!,
      'standingInstruction.industryPractice': 'INCREMENTAL_AUTH',
    })
    const increase = (number: string, by: string) =>
      send('payments.create', more(number), { key: 'order-6', by })
    assert.equal((await increase(secret, 'shop')).status, 200)
    const statuses = await guess((number) => increase(number, 'thief'))
    assert.equal(statuses[candidates.indexOf(secret)], 429)
  })

  test('a number beside a registration counts before its key is looked at', async () => {
    const stored = await send(
      'registrations.create',
      { paymentBrand: 'VISA', ...only(byCard('4111111111111111'), 'card.') },
      { by: 'shop' },
    )
    const pay = (number: string, by: string) =>
      send(
        'registrations.pay',
        { ...money, 'recipient.accountNumber': number, 'recipient.accountNumberType': 'OTHER' },
        { key: 'order-4', id: stored.body.id!, by },
      )
    assert.equal((await pay(secret, 'shop')).status, 200)
    const statuses = await guess((number) => pay(number, 'thief'))
    assert.equal(statuses[candidates.indexOf(secret)], 429)
  })

  const otherAccounts: Record<string, (number: string) => Fields> = {
    'a network token': (number) => ({
      paymentBrand: 'VISA',
      'tokenAccount.number': number,
      'tokenAccount.type': 'NETWORK',
      'tokenAccount.expiryMonth': '05',
      'tokenAccount.expiryYear': '2034',
    }),
    'an external token': (number) => ({
      paymentBrand: 'VISA',
      'tokenAccount.number': number,
      'tokenAccount.type': 'EXTERNAL',
      'tokenAccount.expiryMonth': '05',
      'tokenAccount.expiryYear': '2034',
    }),
    'a bank account': (number) => ({
      paymentBrand: 'DIRECTDEBIT_SEPA',
      'bankAccount.number': number,
      'bankAccount.holder': 'Jane Jones',
      'bankAccount.bankCode': '12345678',
      'bankAccount.country': 'DE',
    }),
  }
  for (const [name, fields] of Object.entries(otherAccounts)) {
    test(`a card's number as that of ${name} is counted, and has another fingerprint`, async () => {
      const stored = async (sent: Fields, by: string) => {
        const { status, body } = await send('registrations.create', sent, { by })
        if (status !== 200) return { status }
        return { status, print: (await guessed.registrations.get(body.id!)).fingerprint }
      }
      const card = { paymentBrand: 'VISA', ...only(byCard(secret), 'card.') }
      const { print } = await stored(card, 'shop')
      assert.equal(typeof print, 'string')
      const same = await stored(fields(secret), 'shop')
      assert.equal(same.status, 200)
      assert.notEqual(same.print, print)
      assert.equal((await stored(fields(secret), 'shop')).print, same.print)
      const statuses = await guess((number) => send('registrations.create', fields(number)))
      assert.equal(refusals(statuses).length, candidates.length - (most - 1))
    })
  }

  test('a token account that was stored under an earlier form pays on every channel of its merchant', async () => {
    const fields = otherAccounts['a network token']!('4895370012003478')
    const made = await send('registrations.create', fields, { by: 'shop' })
    const card = await send('registrations.create', {
      paymentBrand: 'VISA',
      ...only(byCard('4895370012003478'), 'card.'),
    })
    // The earlier form is that of cards.
    await run.sql(
      `update tollgate.registration set fingerprint = (select fingerprint from tollgate.registration where id = $2)
       where id = $1`,
      [made.body.id, card.body.id],
    )
    const [own] = await run.sql<{ parent_id: string }>(
      'select parent_id from tollgate.entity where id = $1',
      [channel],
    )
    const second = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Second',
      parentId: own!.parent_id.replaceAll('-', ''),
    })
    const paid = await guessed.registrations.pay(made.body.id!, {
      entityId: second,
      ...money,
    } as never)
    assert.match(paid.result.code, /^000\./)
  })
})

test('a key of before the digest key was renewed is looked at only for numbers within the limit', async () => {
  const run = await startGateway()
  try {
    const { channel } = run
    await run.gateway.entities.configure(channel, { distinctNumbers: most })
    await sendTo(run.gateway, channel, 'payments.create', byCard(secret), { key: 'order-5' })
    await run.gateway.close()
    await using keys = await KeyAdministration.open({
      database: { url: run.database.url },
      keys: localKeys(testKey),
    })
    await keys.renewMac()
    const later = await run.another()
    const statuses: number[] = []
    for (const number of candidates) {
      const sent = byCard(number)
      const { status } = await sendTo(later, channel, 'payments.create', sent, { key: 'order-5' })
      statuses.push(status)
    }
    assert.equal(statuses[candidates.indexOf(secret)], 429)
    assert.equal(statuses.filter((status) => status === 429).length, candidates.length - most)
  } finally {
    await run.close()
  }
})
