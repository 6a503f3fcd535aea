/** Messages of acquirers over HTTP: the reply that each acquirer wants, and references of its own. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  approved,
  type Claim,
  defineConnector,
  definePlugin,
  hmac,
  type Inbound,
  type InboundReply,
  isHmac,
  pending,
} from '@tollgate/plugin-kit'
import { card, until } from '../../rig/gateway.ts'
import { type Hosted, startHost } from './hosted.ts'

describe('messages of acquirers over HTTP', () => {
  let run: Hosted
  let account: string
  /** The connector's reply to the next messages. */
  let answer: () => InboundReply = () => ({})
  before(async () => {
    // An acquirer that knows its own transactions only: the connector keeps whose each one is.
    const connector = defineConnector({
      name: 'own-references',
      title: 'Own references',
      contract: 1,
      supports: {
        brands: 'any',
        currencies: 'any',
        methods: ['card'],
        key: { by: 'none' },
        enquiryVisibleAfterMs: 0,
      },
      async debit({ key, shortId }, context) {
        context.sending()
        const transaction = `T-${shortId}`
        await context.records.swap(transaction, undefined, key)
        return pending('event', { refs: { transaction } })
      },
      resolve: { enquire: async () => pending('event') },
      inbound: {
        verify: ({ body, headers }) => isHmac(headers['x-signature'], body, 'secret'),
        async parse({ body }: Inbound, { records }): Promise<readonly Claim[]> {
          const { transaction } = JSON.parse(body.toString()) as { transaction: string }
          const key = await records.get(transaction)
          if (typeof key !== 'string') return []
          const amount = { minor: 9200n, currency: 'EUR' }
          return [{ eventId: transaction, key, outcome: approved({ transaction }), amount }]
        },
        reply: () => answer(),
      },
    })
    const plugin = definePlugin({ name: 'own-references', contract: 1, connectors: [connector] })
    run = await startHost({}, { plugins: [plugin] })
    account = await run.gateway.entities.createAccount({
      channelId: run.channel,
      connector: 'own-references',
      mode: 'EXTERNAL',
      settings: {},
    })
  })
  after(() => run.close())

  const tell = async (transaction: string, secret = 'secret') => {
    const body = JSON.stringify({ transaction })
    const reply = await fetch(`${run.url}/connectors/own-references/${account}/events`, {
      method: 'POST',
      headers: { 'x-signature': hmac(body, secret) },
      body,
    })
    const type = reply.headers.get('content-type')
    return { status: reply.status, type, text: await reply.text() }
  }

  const pay = () => run.pay({ ...card('4200000000000000'), testMode: 'EXTERNAL' })

  test('an acquirer with references of its own is understood, and reads the words that it wants', async () => {
    answer = () => ({ body: '[accepted]' })
    const { id } = await pay()
    const [row] = await run.sql<{ transaction: string }>(
      `select answer #>> '{refs,transaction}' as transaction from tollgate.payment where id = $1`,
      [id],
    )
    assert.deepEqual(await tell(row!.transaction), {
      status: 200,
      type: 'text/plain; charset=utf-8',
      text: '[accepted]',
    })
    await until(async () =>
      (await run.gateway.payments.get(id)).result.code === '000.100.112' ? true : undefined,
    )
    assert.equal((await tell(row!.transaction)).text, '[accepted]', 'a repeat gets the reply too')
  })

  test('a message that is not proven gets no word that would end its repeats', async () => {
    answer = () => ({ body: '[accepted]' })
    const { id } = await pay()
    const [row] = await run.sql<{ transaction: string }>(
      `select answer #>> '{refs,transaction}' as transaction from tollgate.payment where id = $1`,
      [id],
    )
    const { status, type, text } = await tell(row!.transaction, 'another secret')
    assert.equal(status, 503, 'any 200 would end them at an acquirer without words of its own')
    assert.match(type!, /^application\/json/)
    assert.doesNotMatch(text, /accepted/)
    assert.equal(
      (await tell(row!.transaction)).text,
      '[accepted]',
      'it is proven once the secret is',
    )
  })

  test('the reply has the status and the content type of the connector', async () => {
    answer = () => ({ status: 202, contentType: 'application/xml', body: '<ok/>' })
    assert.deepEqual(await tell('T-unknown'), {
      status: 202,
      type: 'application/xml',
      text: '<ok/>',
    })
  })

  const wrong: Readonly<Record<string, () => InboundReply>> = {
    'a status that asks for a repeat': () => ({ status: 500 }),
    'a header in its content type': () => ({ contentType: 'text/plain\r\nset-cookie: a=b' }),
    'a body without an end': () => ({ body: 'x'.repeat(5_000) }),
    nothing: () => undefined as never,
    'an error': () => {
      throw new Error('secret of the connector')
    },
  }
  for (const [what, reply] of Object.entries(wrong)) {
    test(`a reply with ${what} becomes the usual one, because the message is stored`, async () => {
      answer = reply
      const { status, type, text } = await tell('T-unknown')
      assert.equal(status, 200)
      assert.match(type ?? '', /^application\/json/)
      assert.match(text, /"code":"000\.000\.100"/)
      const line = run.logs.findLast(({ message }) => message.includes('usual reply'))
      assert.ok(line, 'the log says so')
      assert.ok(!JSON.stringify(line).includes('secret of the connector'))
    })
  }
})
