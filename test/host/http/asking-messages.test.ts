/** Messages that nobody proves, by GET and without amounts: the engine asks the acquirer, who reads the words that it wants. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { approved, defineConnector, definePlugin, onlyAsks, pending } from '@tollgate/plugin-kit'
import { card, until } from '../../rig/gateway.ts'
import { type Hosted, startHost } from './hosted.ts'

describe('messages that only make the engine ask', () => {
  let run: Hosted
  let account: string
  const paid = new Set<string>()
  before(async () => {
    const connector = defineConnector({
      name: 'caller',
      title: 'Caller',
      contract: 1,
      supports: {
        brands: 'any',
        currencies: 'any',
        methods: ['card'],
        key: { by: 'none' },
        enquiryVisibleAfterMs: 0,
      },
      async debit({ key }, context) {
        context.sending()
        await context.records.swap(`T-${key}`, undefined, key)
        return pending('event', { refs: { id: `T-${key}` } })
      },
      resolve: {
        enquire: async ({ key }) =>
          paid.has(key) ? approved({ id: `T-${key}` }) : pending('event'),
      },
      inbound: {
        ...onlyAsks(async ({ body, query }, { records }) => {
          const id = query.id ?? new URLSearchParams(body.toString()).get('id')
          if (id === null) throw new Error('this is no message of Caller')
          const key = await records.get(id)
          return typeof key === 'string' ? [key] : []
        }),
        reply: () => ({ body: '[OK]' }),
      },
    })
    const plugin = definePlugin({ name: 'caller', contract: 1, connectors: [connector] })
    run = await startHost({}, { plugins: [plugin] })
    account = await run.gateway.entities.createAccount({
      channelId: run.channel,
      connector: 'caller',
      mode: 'EXTERNAL',
      settings: {},
    })
  })
  after(() => run.close())

  async function open(): Promise<{ id: string; reference: string; pay(): void }> {
    const { id } = await run.pay({ ...card('4200000000000000'), testMode: 'EXTERNAL' })
    const [row] = await run.sql<{ reference: string }>(
      `select answer #>> '{refs,id}' as reference from tollgate.payment where id = $1`,
      [id],
    )
    const { reference } = row!
    return { id, reference, pay: () => void paid.add(reference.slice(2)) }
  }
  const address = () => `${run.url}/connectors/caller/${account}/events`
  const codeOf = async (id: string) => (await run.gateway.payments.get(id)).result.code
  const decided = (id: string) =>
    until(async () => ((await codeOf(id)) === '000.100.112' ? true : undefined))

  test('a message by GET asks, each time, and is answered in the words of the acquirer', async () => {
    const payment = await open()
    const call = async () => {
      const reply = await fetch(`${address()}?id=${payment.reference}&status=paid&amount=1.00`)
      assert.deepEqual([reply.status, await reply.text()], [200, '[OK]'])
    }
    await call()
    await until(async () => {
      const rows = await run.sql("select 1 from tollgate.inbound_event where outcome = 'enquired'")
      return rows.length > 0 ? true : undefined
    })
    assert.notEqual(
      await codeOf(payment.id),
      '000.100.112',
      'what the message says is not believed',
    )
    payment.pay()
    await call()
    await decided(payment.id)
  })

  test('a form does as well, and neither raises the alarm of forged messages', async () => {
    const payment = await open()
    payment.pay()
    const body = new URLSearchParams({ id: payment.reference })
    const reply = await fetch(address(), { method: 'POST', body })
    assert.equal(await reply.text(), '[OK]')
    await decided(payment.id)
    assert.doesNotMatch(JSON.stringify(run.logs), /forged/)
  })

  test('what is no message of the acquirer gets no word of it', async () => {
    const reply = await fetch(address())
    assert.equal(reply.status, 503)
    assert.doesNotMatch(await reply.text(), /OK/)
  })
})
