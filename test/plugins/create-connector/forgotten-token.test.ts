/** A bank forgets its access tokens: the template's connector logs in again, and no payment is lost or made twice. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { definePlugin, notSent, Sensitive } from '@tollgate/plugin-kit'
import { cards } from '../../../plugins/create-connector/template/sandbox/books.ts'
import { startBank } from '../../../plugins/create-connector/template/sandbox/server.ts'
import acmePlugin, { acmeBank } from '../../../plugins/create-connector/template/src/index.ts'
import { card, startGateway, type TestGateway, until } from '../../rig/gateway.ts'

const account = { user: 'shop-1', password: 'a password', notifySecret: 'another secret' }
/** An acquirer whose tokens have a name that tells nobody what they are. */
const ticket = '7c2e9f0b41d84a6fa3e5'
const ticketOffice = createServer((_, response) =>
  response.end(JSON.stringify({ voucher: ticket })),
)
const ticketPlugin = definePlugin({
  name: 'ticket-bank',
  contract: 1,
  connectors: [
    {
      ...acmeBank,
      name: 'ticket-bank',
      async debit(_, { token, http, config }) {
        await token('api', async () => {
          const answer = await http.get(String(config.url))
          const { voucher } = answer.json() as { voucher: string }
          return { value: new Sensitive(voucher), expiresInMs: 60_000 }
        })
        return notSent('only the token matters')
      },
    },
  ],
})

describe('tokens that the bank forgot', () => {
  let bank: Awaited<ReturnType<typeof startBank>>
  let run: TestGateway
  let channel: string
  let tickets: string
  let accountId: string

  before(async () => {
    bank = await startBank(account)
    ticketOffice.listen(0, '127.0.0.1')
    await once(ticketOffice, 'listening')
    const { port } = ticketOffice.address() as AddressInfo
    const connectors = {
      'acme-bank': { url: bank.url },
      'ticket-bank': { url: `http://127.0.0.1:${port}` },
    }
    run = await startGateway({ plugins: [acmePlugin, ticketPlugin], connectors })
    const { entities } = run.gateway
    const web = async (connector: string) => {
      const channelId = await entities.create({
        kind: 'channel',
        name: 'Web',
        parentId: run.merchant,
      })
      const mode = 'EXTERNAL'
      accountId = await entities.createAccount({ channelId, connector, mode, settings: account })
      return channelId
    }
    tickets = await web('ticket-bank')
    channel = await web('acme-bank')
  })
  after(async () => {
    await run.close()
    ticketOffice.close()
    await bank.close()
  })

  const pay = async (entityId = channel): Promise<string> => {
    const payment = await run.pay({ ...card(cards.approved), testMode: 'EXTERNAL', entityId })
    return payment.result.code
  }

  test('payments go on after the bank forgot its tokens, each of them once', async () => {
    const codes = [await pay()]
    bank.logins.forget()
    codes.push(await pay())
    bank.logins.forget()
    codes.push(...(await Promise.all(Array.from({ length: 6 }, () => pay()))))
    assert.deepEqual(
      codes.filter((code) => !/^000\.(000|100\.1)/.test(code)),
      [],
    )
    assert.equal(bank.books.entries.size, codes.length)
    assert.deepEqual(await run.gateway.accounts.check(accountId), { is: 'accepted' })
  })

  test('no transcript has a token, also not as it came, under whatever name', async () => {
    await pay(tickets)
    const logins = ['expires_in', 'voucher']
    const shown = await until(async () => {
      const rows = await run.sql('select s::text as step from tollgate.step s')
      const text = JSON.stringify(rows)
      return logins.every((login) => text.includes(login)) ? text : undefined
    })
    for (const token of [ticket, ...bank.logins.tokens])
      assert.ok(!shown.includes(token), 'a token is shown')
  })
})
