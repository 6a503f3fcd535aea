/** Whatever a browser sends, a known checkout answers with a state, and never with a fault. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../../core/index.ts'
import { limits } from '../../../schemas/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { workedMs } from '../../rig/worked.ts'
import { newCheckout, nonce } from './rig.ts'

const card = {
  'card.number': '4200000000000000',
  'card.holder': 'Jane Jones',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
}

const pages = [
  'http://a b/',
  'http://%zz/',
  'http://[::1',
  'https://:80/',
  'http://shop.example:99999/',
  'javascript:alert(1)',
  'data:text/html,x',
  '//shop.example/',
  `https://shop.example/${'a'.repeat(3000)}`,
  'https://user:secret@shop.example/\u0000',
  'https://xn--\u00df.example/',
]

describe('hostile submissions', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())

  const send = async (id: string, body: string | Uint8Array, type: string) => {
    const call = {
      path: { id },
      body: Buffer.from(body),
      contentType: type,
      requestId: newId(),
      address: '192.0.2.7',
    }
    const { status, body: said } = await run.gateway.call('checkouts.pay', null, call)
    return { status, said: said as unknown as { state?: string } }
  }
  const invalid = async (id: string, body: string | Uint8Array, type = 'application/json') => {
    const { status, said } = await send(id, body, type)
    assert.deepEqual(
      [status, said.state],
      [200, 'invalid'],
      `${Buffer.from(body).toString('latin1').slice(0, 200)} ${JSON.stringify(said)}`,
    )
  }

  test('pages that no browser can open are refused', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    for (const resultUrl of pages) {
      const origin = 'https://shop.example'
      await invalid(id, JSON.stringify({ nonce: nonce(), ...card, resultUrl, origin }))
    }
  })

  test('bodies of every wrong shape are refused', async () => {
    const id = await newCheckout(run)
    for (const body of [
      'null',
      '[]',
      '[1]',
      '"a"',
      '1',
      '{',
      '{"card":1}',
      '{"nonce":{"a":"b"}}',
    ]) {
      await invalid(id, body)
    }
    for (const body of [
      'nonce=a',
      'nonce[0]=aaaaaaaaaaaaaaaaaaaa',
      `nonce=${nonce()}&card=1`,
      `nonce=${nonce()}&nonce=${nonce()}`,
      `nonce=${nonce()}&__proto__.amount=1`,
      `nonce=${nonce()}&customParameters[OTHER_x]=1`,
      `nonce=${nonce()}&customParameters[SHOPPER_x]=4200000000000000`,
      `nonce=${nonce()}&registrationId=${'0'.repeat(32)}&card.cvv=123`,
      `nonce=${nonce()}&paymentBrand=SEPA&bankAccount.iban=${'X'.repeat(20)}`,
      `nonce=${nonce()}&card.numberType=DPAN&card.number=4200000000000000`,
      '%',
    ]) {
      await invalid(id, body, 'application/x-www-form-urlencoded')
    }
    await invalid(id, '<a/>', 'text/xml')
    const rows = await run.sql('select id from tollgate.payment where checkout_id = $1', [id])
    assert.equal(rows.length, 0)
  })

  test('JSON with flat names is read as strictly as every other body', async () => {
    const id = await newCheckout(run)
    const rest = JSON.stringify(card).slice(1)
    await invalid(id, `{"nonce":"${nonce()}","card.number":"4000000000000002",${rest}`)
    const surname = Buffer.from(`{"nonce":"${nonce()}","customer.surname":"`)
    await invalid(id, Buffer.concat([surname, Buffer.from([0xff, 0xfe]), Buffer.from(`",${rest}`)]))
    await invalid(id, `{"nonce":"${nonce()}","customer.surname":"\\ud800x",${rest}`)
    const rows = await run.sql('select id from tollgate.payment where checkout_id = $1', [id])
    assert.equal(rows.length, 0)
    const { said } = await send(id, `{"nonce":"${nonce()}",${rest}`, 'application/json')
    assert.equal(said.state, 'paid')
  })

  test('a large submission is refused before it is read', async () => {
    const id = await newCheckout(run)
    const rest = JSON.stringify(card).slice(1)
    const most = limits.checkoutSubmissionBytes
    const spaced = (length: number) => {
      const body = `{"nonce":"${nonce()}",${rest}`
      return body + ' '.repeat(length - body.length)
    }
    await invalid(id, spaced(most + 1))
    const many = Array.from({ length: 200_000 }, (_, at) => `"${at.toString(36)}":"x"`).join(',')
    const started = workedMs()
    for (let round = 0; round < 20; round += 1) await invalid(id, `{${many}}`)
    assert.ok(workedMs() - started < 1_000, `${workedMs() - started} ms`)
    assert.equal((await send(id, spaced(most), 'application/json')).said.state, 'paid')
  })
})
