/** Servers of shops that prepare checkouts and read their results, with another base URL alone. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { release } from '@tollgate/widget'
import { type Answer, ask, debit, type Hosted, startHost } from '../host/http/hosted.ts'
import { closeChecked } from '../rig/books.ts'

type Form = Readonly<Record<string, string>>

const approved = /^(000\.000\.|000\.100\.1|000\.[36])/
const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
const origin = 'http://localhost:1'

describe('servers of deployed shops', () => {
  let run: Hosted
  before(async () => {
    run = await startHost(
      { origins: { merchant: origin, fields: 'http://fields.localhost:1' } },
      { widget: release(), publicUrl: origin, fieldsUrl: 'http://fields.localhost:1' },
    )
  })
  after(() => closeChecked(run))

  const send = (path: string, fields: Form): Promise<Answer> =>
    ask(run.url, path, {
      token: run.token,
      body: new URLSearchParams({ entityId: run.channel, ...fields }).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
  const read = (path: string) =>
    ask(run.url, `${path}?entityId=${run.channel}`, { token: run.token })

  /** Pays as the fields of the widget do, and goes where the browser goes. */
  async function shopperPays(checkoutId: string): Promise<URL> {
    const card = Object.entries(debit).filter(([name]) => /^(card\.|paymentBrand)/.test(name))
    const fields = {
      ...Object.fromEntries(card),
      nonce: crypto.randomUUID(),
      resultUrl: 'https://shop.example/done?order=7',
      origin: 'https://shop.example',
    }
    const { body } = await ask(run.url, `/v1/checkouts/${checkoutId}/payment`, {
      body: new URLSearchParams(fields).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
    assert.equal(body.state, 'paid', JSON.stringify(body))
    return new URL(String(body.resultUrl))
  }

  test('a shop reads the state of a checkout by its literal codes, until it is paid', async () => {
    const made = await send('/v1/checkouts', { ...basket, merchantTransactionId: 'order-0007' })
    assert.equal(made.body.result.code, '000.200.100')
    const id = String(made.body.id)
    const open = await read(`/v1/checkouts/${id}/payment`)
    assert.deepEqual([open.status, open.body.result.code], [200, '000.200.000'])
    const unknown = await read(`/v1/checkouts/${'0'.repeat(32)}.uat01-vm-tx03/payment`)
    assert.deepEqual([unknown.status, unknown.body.result.code], [404, '200.300.404'])

    const address = await shopperPays(id)
    assert.equal(address.searchParams.get('order'), '7')
    assert.equal(address.searchParams.get('id'), id)
    const path = address.searchParams.get('resourcePath') ?? ''
    assert.match(path, /^\/v[0-9]+\/checkouts\/[a-zA-Z0-9.-]+\/payment$/)
    const paid = await read(path)
    assert.match(paid.body.result.code, approved)
    assert.equal(paid.body.merchantTransactionId, 'order-0007')

    const refunded = await send(`/v1/payments/${paid.body.id}`, {
      paymentType: 'RF',
      amount: '10.00',
      currency: 'EUR',
    })
    assert.match(refunded.body.result.code, approved)
  })

  for (const [language, yes, no] of [
    ['PHP', '1', '0'],
    ['Python', 'True', 'False'],
  ] as const) {
    test(`a shop in ${language} writes booleans into its form as its encoder does`, async () => {
      const stores = { createRegistration: yes, integrity: yes }
      const made = await send('/v1/checkouts', { ...basket, ...stores })
      assert.equal(made.body.result.code, '000.200.100', JSON.stringify(made.body))
      assert.match(String(made.body.integrity), /^sha384-/)
      await shopperPays(String(made.body.id))
      const paid = await read(`/v1/checkouts/${made.body.id}/payment`)
      assert.match(String(paid.body.registrationId), /^[0-9a-f]{32}$/)

      const again = await send(`/v1/registrations/${paid.body.registrationId}/payments`, basket)
      assert.match(again.body.result.code, approved)
      const deleted = await ask(
        run.url,
        `/v1/registrations/${paid.body.registrationId}?entityId=${run.channel}`,
        { token: run.token, method: 'DELETE' },
      )
      assert.match(deleted.body.result.code, approved)

      const plain = await send('/v1/checkouts', { ...basket, createRegistration: no })
      await shopperPays(String(plain.body.id))
      const unstored = await read(`/v1/checkouts/${plain.body.id}/payment`)
      assert.equal(unstored.body.registrationId, undefined)
    })
  }

  test('a boolean that no encoder writes is refused by name', async () => {
    const { status, body } = await send('/v1/checkouts', { ...basket, integrity: 'yes' })
    assert.equal(status, 400)
    assert.deepEqual(body.result.parameterErrors, [
      { name: 'integrity', value: 'yes', message: 'must be true or false' },
    ])
  })
})
