/** The share of approvals beside failures: told later, by other processes, and before a restart. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { declined, pending, unknown } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { type Gateway, GatewayError } from '../../core/index.ts'
import {
  type AcquirerRun,
  message,
  processed,
  scriptedAcquirer,
  startWithAcquirer,
} from '../rig/acquirer.ts'
import { closeChecked } from '../rig/books.ts'
import { card, until } from '../rig/gateway.ts'
import { cardOf } from '../rig/payment-request.ts'
import { sameEnds, withCheckDigit } from '../rig/same-ends.ts'

const wrongCvv = '800.100.153'
const threshold = 12
const alice = { by: 'Alice', reason: 'seen in the back office' }
/** Number and address are off: what many shoppers share is judged. */
const wide = { number: 0, address: 0, bin: threshold, channel: threshold, token: threshold }
const number = (no: number) => withCheckDigit(`420000${String(no).padStart(9, '0')}`)

describe('the share of approvals', () => {
  let run: AcquirerRun
  let merchant: string
  let channel: string
  let account: string
  let numbers = 0
  /** Takes up nothing that another one was told. */
  const process = () =>
    run.another({ plugins: [run.acquirer.plugin], cardTesting: wide, role: 'api' })
  before(async () => {
    run = await startWithAcquirer({ cardTesting: wide })
    run.acquirer.tell('bad-attempt', { debit: () => declined(wrongCvv) })
    run.acquirer.tell('good-sale', {})
    run.acquirer.tell('later-sale', {
      debit: () => pending('event', { refs: { reference: 'later-sale' } }),
      enquire: () => ({ is: 'approved', refs: {} }),
    })
    const silent = () => unknown('the acquirer is down')
    run.acquirer.tell('lost-sale', {
      debit: (_, context) => {
        context.sending()
        return silent()
      },
      enquire: silent,
      reverseByKey: silent,
    })
  })
  after(() => closeChecked(run))
  beforeEach(async () => {
    const { entities } = run.gateway
    merchant = await entities.create({ kind: 'merchant', name: 'Shop', parentId: run.division })
    channel = await entities.create({ kind: 'channel', name: 'Shop', parentId: merchant })
    account = await entities.createAccount({
      channelId: channel,
      connector: 'scripted',
      mode: 'EXTERNAL',
      settings: {},
    })
  })

  const pay = (reference: string, on: Gateway = run.gateway) => {
    numbers += 1
    const made = on.payments.create({
      ...card(number(numbers)),
      testMode: 'EXTERNAL',
      entityId: channel,
      merchantTransactionId: reference,
    } as never)
    return made.then(
      ({ id, result }) => ({ id, code: result.code }),
      (error: unknown) => {
        assert.ok(error instanceof GatewayError && error.status === 429, String(error))
        return { id: '', code: '429' }
      },
    )
  }
  const attemptKey = async (id: string) => {
    const [row] = await run.sql<{ attempt_key: string }>(
      'select attempt_key from tollgate.payment where id = $1',
      [id],
    )
    return row!.attempt_key
  }
  const approveByEvent = async (id: string, on: Gateway) => {
    const eventId = `approved-${id}`
    const key = await attemptKey(id)
    const outcome = { is: 'approved', refs: {} } as const
    await on.inbound('scripted', account, message({ eventId, key, outcome }))
    await processed(run, eventId)
  }
  const told = async (dimension: string, count: 'failures' | 'approvals') => {
    const [row] = await run.sql<{ n: number }>(
      `select coalesce(sum(${count}), 0)::integer as n from tollgate.card_testing
       where merchant_id = $1 and dimension = $2`,
      [merchant, dimension],
    )
    return row!.n
  }
  const countedApprovals = (count: number, among = ['bin', 'channel', 'token']) =>
    until(async () => {
      const found = await Promise.all(among.map((dimension) => told(dimension, 'approvals')))
      return found.every((one) => one === count) ? true : undefined
    })
  /** Every process has read by now what stands in the table. */
  const learnt = () => new Promise((next) => setTimeout(next, 3 * limits.cardTestingShareMs))
  /** More failures than the threshold, of which none is refused while more is approved. */
  const failuresOn = async (on: Gateway) => {
    for (let no = 0; no < threshold; no += 1)
      assert.equal((await pay('bad-attempt', on)).code, wrongCvv)
  }

  test('approvals by event, enquiry and operator count like those of an answer', async () => {
    assert.equal((await pay('bad-attempt')).code, wrongCvv)
    const open: string[] = []
    for (let no = 0; no < threshold + 3; no += 1) {
      const { id, code } = await pay('later-sale')
      assert.match(code, /^000\.200\./)
      open.push(id)
    }
    const [enquired, ...told] = open
    await run.operator.enquire(enquired!, alice)
    for (const id of told) await approveByEvent(id, run.gateway)
    const lost = await pay('lost-sale')
    assert.equal(lost.code, '000.200.001')
    await run.operator.enquire(lost.id, alice)
    await run.operator.settle(lost.id, 'approved', alice)
    await countedApprovals(open.length + 1)
    await failuresOn(run.gateway)
  })

  test('approvals that another process is told count in both, by token too', async () => {
    const sender = await process()
    const hearer = await process()
    assert.equal((await pay('bad-attempt', sender)).code, wrongCvv)
    await until(async () => ((await told('channel', 'failures')) > 0 ? true : undefined))
    await learnt()
    for (let no = 0; no < threshold + 3; no += 1) {
      const { id } = await pay('later-sale', sender)
      await approveByEvent(id, hearer)
    }
    await countedApprovals(threshold + 3)
    await learnt()
    await failuresOn(sender)
  })

  test('a process that starts later judges failures beside the approvals of the others', async () => {
    const first = await process()
    for (let no = 0; no < threshold + 10; no += 1) {
      assert.equal((await pay('bad-attempt', first)).code, wrongCvv)
      for (let sale = 0; sale < 2; sale += 1) {
        assert.match((await pay('good-sale', first)).code, /^000\./)
      }
    }
    await first.close()
    const restarted = await process()
    await failuresOn(restarted)
    assert.match((await pay('good-sale', restarted)).code, /^000\./)
  })

  test('a process that starts later refuses by the failures of the others, before it saw one', async () => {
    const first = await process()
    await failuresOn(first)
    assert.equal((await pay('bad-attempt', first)).code, '429')
    await first.close()
    assert.equal((await pay('bad-attempt', await process())).code, '429')
  })

  test('failures of an earlier version, which told no approvals, close nothing', async () => {
    const first = await process()
    await failuresOn(first)
    await first.close()
    await run.sql('update tollgate.card_testing set approvals = null where merchant_id = $1', [
      merchant,
    ])
    assert.equal((await pay('bad-attempt', await process())).code, wrongCvv)
  })

  test('a late approval of one number, or of nothing, vouches for no other card', async () => {
    assert.equal((await pay('bad-attempt')).code, wrongCvv)
    const same = cardOf(number(900_000))
    for (let no = 0; no < 3; no += 1) {
      const { id } = await run.gateway.payments.create({
        ...card(same.number),
        testMode: 'EXTERNAL',
        entityId: channel,
        merchantTransactionId: 'later-sale',
      } as never)
      await approveByEvent(id, run.gateway)
    }
    await run.gateway.registrations.create({
      entityId: channel,
      testMode: 'EXTERNAL',
      paymentBrand: 'VISA',
      card: same,
    } as never)
    await countedApprovals(1)
  })
})

test("the block of a registered number does not tell the number to a token account's owner", async () => {
  const thresholds = { number: 3, address: 0, bin: 0, channel: 0, token: 0 }
  const acquirer = scriptedAcquirer({ methods: ['card', 'tokenAccount'] })
  const run = await startWithAcquirer({ acquirer, cardTesting: thresholds })
  try {
    const { gateway, channel } = run
    const [secret = '', ...others] = sameEnds(6)
    const stored = { entityId: channel, testMode: 'EXTERNAL', paymentBrand: 'VISA' }
    const victim = await gateway.registrations.create({ ...stored, card: cardOf(secret) } as never)
    run.acquirer.tell('bad-attempt', { debit: () => declined(wrongCvv) })
    const fail = () =>
      gateway.registrations.pay(victim.id, {
        ...card(secret),
        card: { cvv: '000' },
        entityId: channel,
        testMode: 'EXTERNAL',
        merchantTransactionId: 'bad-attempt',
      } as never)
    for (let no = 0; no < thresholds.number; no += 1) await fail()
    await assert.rejects(fail(), { status: 429 })
    for (const one of [secret, ...others]) {
      const tokenAccount = { number: one, type: 'NETWORK', expiryMonth: '05', expiryYear: '2034' }
      const made = await gateway.registrations.create({ ...stored, tokenAccount } as never)
      assert.match(made.result.code, /^000\./)
    }
  } finally {
    await closeChecked(run)
  }
})
