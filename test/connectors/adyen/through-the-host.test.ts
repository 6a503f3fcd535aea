/** Adyen over HTTP, as a shop meets it: a shopper who is sent away and comes back, and a card that is charged later. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import plugin from '../../../connectors/adyen/index.ts'
import {
  cards,
  newAccount,
  type RunningAdyen,
  settingsOf,
  startAdyen,
} from '../../../connectors/adyen/sandbox/sandbox.ts'
import { ask, debit, type Hosted, startHost, without } from '../../host/http/hosted.ts'

const shop = 'https://shop.example/thanks'

describe('a shop with an account at Adyen', () => {
  let adyen: RunningAdyen
  let host: Hosted
  before(async () => {
    const account = newAccount()
    adyen = await startAdyen(account)
    host = await startHost(
      {},
      {
        plugins: [plugin],
        connectors: { adyen: { url: `${adyen.url}/v71`, reportUrl: adyen.url } },
        publicUrl: 'https://pay.example',
      },
    )
    await host.gateway.entities.createAccount({
      channelId: host.channel,
      connector: 'adyen',
      mode: 'EXTERNAL',
      settings: settingsOf(account),
    })
  })
  after(async () => {
    await host.close()
    await adyen.close()
  })

  const post = async (path: string, form: Record<string, string>) => {
    const { status, body } = await ask(host.url, path, {
      token: host.token,
      form: { ...form, testMode: 'EXTERNAL' },
    })
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  const read = async (id: string) =>
    (await ask(host.url, `/v1/payments/${id}`, { token: host.token })).body

  /** A sale whose shopper answers at Adyen; the path of the way back. */
  const sentAway = async (answer: 'yes' | 'no') => {
    const sale = await post('/v1/payments', {
      ...debit,
      'card.number': cards.redirect,
      shopperResultUrl: shop,
    })
    assert.equal(sale.result.code, '000.200.000')
    const { url } = sale.redirect as { url: string }
    const page = await fetch(`${url}?answer=${answer}`, { redirect: 'manual' })
    const back = new URL(page.headers.get('location') ?? '')
    assert.equal(back.origin, 'https://pay.example')
    return { id: sale.id, path: back.pathname + back.search }
  }
  const comeBack = async (path: string) =>
    (await fetch(host.url + path, { redirect: 'manual' })).headers.get('location')
  const booked = async () =>
    adyen.ledger.payments.reduce((sum, { captured, refunded }) => sum + captured - refunded, 0)

  for (const [answer, code, money] of [
    ['yes', '000.100.112', 9200],
    ['no', '100.390.112', 0],
  ] as const) {
    test(`a shopper whose answer to the issuer is ${answer} comes back to the shop`, async () => {
      const before = await booked()
      const { id, path } = await sentAway(answer)
      const wanted = `${shop}?id=${id}&resourcePath=%2Fv1%2Fpayments%2F${id}`
      assert.equal(await comeBack(path), wanted)
      assert.equal((await read(id)).result.code, code)
      // The browser's back button, and a press of reload.
      assert.equal(await comeBack(path), wanted)
      assert.equal((await read(id)).result.code, code)
      assert.equal((await booked()) - before, money)
    })
  }

  test('a shopper cannot bring the proof of another payment', async () => {
    const cheap = await sentAway('yes')
    const dear = await sentAway('no')
    const [way] = dear.path.split('?')
    const [, proof] = cheap.path.split('?')
    const before = await booked()
    await comeBack(`${way}?${proof}`)
    assert.notEqual((await read(dear.id)).result.code, '000.100.112')
    await comeBack(cheap.path)
    assert.equal((await read(cheap.id)).result.code, '000.100.112')
    assert.equal((await booked()) - before, 9200)
  })

  test('a stored card is charged by the merchant under the agreement of its first payment', async () => {
    const agreement = {
      'standingInstruction.type': 'UNSCHEDULED',
      'standingInstruction.mode': 'INITIAL',
      'standingInstruction.source': 'CIT',
    }
    const first = await post('/v1/payments', {
      ...debit,
      'card.number': cards.approved,
      createRegistration: 'true',
      ...agreement,
    })
    assert.equal(first.result.code, '000.100.112')
    const told = Object(adyen.exchanges.at(-1)?.answer)
    const again = await post(`/v1/registrations/${first.registrationId}/payments`, {
      ...without(
        debit,
        'paymentBrand',
        'card.number',
        'card.holder',
        'card.expiryMonth',
        'card.expiryYear',
        'card.cvv',
      ),
      'standingInstruction.type': 'UNSCHEDULED',
      'standingInstruction.mode': 'REPEATED',
      'standingInstruction.source': 'MIT',
    })
    assert.equal(again.result.code, '000.100.112')
    const sent = Object(adyen.exchanges.at(-1)?.request)
    assert.equal(sent.shopperInteraction, 'ContAuth')
    assert.equal(sent.recurringProcessingModel, 'UnscheduledCardOnFile')
    assert.equal(sent.paymentMethod.number, cards.approved)
    assert.equal(sent.paymentMethod.cvc, undefined)
    assert.equal(
      sent.paymentMethod.networkPaymentReference,
      told.additionalData.networkTxReference,
      'the reference of the first payment at the scheme',
    )
  })
})
