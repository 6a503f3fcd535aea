/** A checkout that was made for a merchant follows the settings of the channel that takes its payment. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { basket, cardFields, newCheckout, press } from './rig.ts'

const listed = 'https://shop.example'
const other = 'https://other.example'

describe('a checkout of a merchant with dispatching rules', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())

  /** VISA cards of a new merchant go to a channel with these settings, others to one with none. */
  const merchantWith = async (own: object, settings: object) => {
    const { entities } = run.gateway
    const merchant = { kind: 'merchant', name: 'Shop', parentId: run.division, settings: own }
    const parentId = await entities.create(merchant as never)
    const channelWith = (its: object) =>
      entities.create({ kind: 'channel', name: 'Dispatched', parentId, settings: its as never })
    const [visa, others] = [await channelWith(settings), await channelWith({})]
    await entities.dispatching.replace(parentId, [
      { priority: 1, channelId: visa, brands: ['VISA'] },
      { priority: 2, channelId: others },
    ] as never)
    return { entityId: parentId, others }
  }

  test('asks for the security code where the chosen channel does, and offers the field', async () => {
    const { entityId, others } = await merchantWith({ oneClickCvv: false }, { oneClickCvv: true })
    const stored = async (number: string, paymentBrand: string) => {
      const account = { entityId: others, paymentBrand, card: cardFields(number) }
      return (await run.gateway.registrations.create(account as never)).id
    }
    const visa = await stored('4200000000000000', 'VISA')
    const master = await stored('5454545454545454', 'MASTER')
    const id = await newCheckout(run, { entityId, registrations: [{ id: visa }, { id: master }] })
    const { registrations } = await run.gateway.checkouts.offer(id)
    assert.deepEqual(
      registrations.map(({ cvv }) => cvv),
      ['asked', 'asked'],
    )
    const click = { card: undefined, registrationId: visa }
    assert.deepEqual(await press(run.gateway, id, click), {
      state: 'invalid',
      errors: [{ field: 'card.cvv', reason: 'required' }],
    })
    const free = { card: undefined, registrationId: master }
    assert.equal((await press(run.gateway, id, free)).state, 'paid')
  })

  test('takes no payment from a page that the chosen channel does not list', async () => {
    const { entityId } = await merchantWith({}, { widgetOrigins: [listed] })
    const id = await newCheckout(run, { entityId })
    const reply = await press(run.gateway, id, { origin: other })
    assert.deepEqual(reply, { state: 'invalid', errors: [{ field: 'origin', reason: 'invalid' }] })
    const master = { origin: other, card: cardFields('5454545454545454') }
    assert.equal((await press(run.gateway, id, master)).state, 'paid')
  })

  test('leads to a page of a form where every list has its origin', async () => {
    const both = { widgetOrigins: [listed, other] }
    const { entityId } = await merchantWith({ widgetOrigins: [listed] }, both)
    const ownPage = async (origin: string) => {
      const fields = { entityId, ...basket }
      const { id } = await run.gateway.checkouts.create(fields as never)
      assert.deepEqual((await run.gateway.checkouts.offer(id)).widgetOrigins, [listed])
      const reply = await press(run.gateway, id, { origin, resultUrl: `${origin}/thanks` })
      return { reply, seen: await run.gateway.checkouts.state(id) }
    }
    assert.equal((await ownPage(other)).reply.state, 'invalid')
    const { reply, seen } = await ownPage(listed)
    assert.ok(reply.resultUrl?.startsWith(listed))
    assert.equal(seen.resultUrl, reply.resultUrl)
  })

  test('has the fewest tries that a channel of its rules allows', async () => {
    const { entityId } = await merchantWith({}, { checkoutTries: 2 })
    const id = await newCheckout(run, { entityId })
    const declined = { card: cardFields('4000000000000002') }
    assert.equal((await press(run.gateway, id, declined)).attemptsLeft, 1)
    assert.equal((await press(run.gateway, id, declined)).attemptsLeft, 0)
    assert.equal((await press(run.gateway, id)).state, 'closed')
  })
})
