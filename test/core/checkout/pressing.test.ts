/** A shopper who presses and returns again and again costs the acquirer a few questions. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Connector, Plugin } from '@tollgate/plugin-kit'
import { limits } from '../../../schemas/index.ts'
import { freshSimulator, startGateway, type TestGateway } from '../../rig/gateway.ts'
import { newCheckout, nonce, press } from './rig.ts'

const calls = { enquire: 0, reverse: 0, complete: 0 }

/** A simulator that never decides about a shopper who is away, and counts. */
function counted(): Plugin {
  const plugin = freshSimulator()
  const connectors = (plugin.connectors ?? []).map((one): Connector => {
    const { resolve } = one
    return {
      ...one,
      complete: async (...given) => {
        calls.complete += 1
        return one.complete!(...given)
      },
      resolve: {
        ...resolve,
        enquire: async (...given) => {
          calls.enquire += 1
          return resolve.enquire!(...given)
        },
        reverseByKey: async () => {
          calls.reverse += 1
          return { is: 'refused', why: 'the shopper may still pay' }
        },
      },
    }
  })
  return { ...plugin, connectors }
}

describe('questions on behalf of shoppers', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({
      pool: {},
      role: 'api',
      publicUrl: 'https://pay.example',
      simulator: counted(),
    })
  })
  after(() => run.close())

  /** How many questions a payment may have caused since now: a slow machine gives time for more. */
  const allowance = () => {
    const { atOnce, pauseMs } = limits.shopperQuestions
    const sinceMs = performance.now()
    return () => atOnce + Math.ceil((performance.now() - sinceMs) / pauseMs)
  }

  const away = async () => {
    const id = await newCheckout(run)
    const one = { nonce: nonce(), paymentBrand: 'PAYPAL', card: undefined }
    const { redirect } = await press(run.gateway, id, one)
    assert.ok(redirect !== undefined)
    Object.assign(calls, { enquire: 0, reverse: 0, complete: 0 })
    return { id, one, redirect }
  }

  test('other presses learn that one is under way, and it alone where', async () => {
    const { id, one, redirect } = await away()
    const mostNow = allowance()
    for (let count = 0; count < 12; count += 1) {
      const reply = await press(run.gateway, id, { paymentBrand: 'PAYPAL', card: undefined })
      assert.deepEqual(reply, { state: 'busy' })
    }
    assert.deepEqual((await press(run.gateway, id, one)).redirect, redirect)
    assert.ok(calls.reverse >= 1 && calls.reverse <= mostNow(), `${calls.reverse}`)
    assert.equal(calls.enquire, calls.reverse)
  })

  test('returns lead to the merchant, and ask a few times', async () => {
    const { id, redirect } = await away()
    const [row] = await run.sql<{ id: string }>(
      'select id from tollgate.payment where checkout_id = $1',
      [id],
    )
    const token = tokenOf(redirect.url)
    const brought = { method: 'GET', query: {}, form: {} } as const
    const mostNow = allowance()
    const back = () => run.gateway.shoppers.cameBack(row!.id, token, brought)
    const onwards = await Promise.all(Array.from({ length: 40 }, back))
    for (const onward of onwards) assert.equal(onward?.to, 'merchant')
    assert.ok(calls.complete >= 1 && calls.complete <= mostNow(), `${calls.complete}`)
  })

  /** Of the address in the page of the simulator's bank. */
  const tokenOf = (bank: string) => {
    const page = bank.split('/').at(-1)!.split('.')[0]!
    const { returnUrl } = JSON.parse(Buffer.from(page, 'base64url').toString()) as {
      returnUrl: string
    }
    return returnUrl.split('/').at(-1)!
  }
})
