/** A shopper who comes back from a bank: the acquirer is asked, once at a time, and money moves once. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  approved,
  declined,
  notSent,
  type Operation,
  type Outcome,
  pending,
  type ShopperReturn,
} from '@tollgate/plugin-kit'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { charged, type LateRun, startLate } from '../../rig/late-words.ts'

const shop = 'https://shop.example/thanks?order=7'
const bankPage = { redirect: { url: 'https://bank.example/confirm' } }
type Complete = (operation: Operation, back: ShopperReturn) => Promise<Outcome> | Outcome

describe('shoppers who come back from a bank', () => {
  let run: LateRun
  /** What the bank says of a payment, by the merchant's reference. */
  const answers = new Map<string, Complete>()
  const asked: { reference: string; back: ShopperReturn }[] = []
  before(async () => {
    run = await startLate(
      {
        bank: (connector) => ({
          ...connector,
          complete: async (operation, back, context) => {
            const reference = operation.merchantTransactionId ?? ''
            asked.push({ reference, back })
            const outcome = await answers.get(reference)!(operation, back)
            if (outcome.is === 'approved') context.sending()
            return outcome
          },
        }),
      },
      { publicUrl: 'https://pay.example' },
    )
  })
  after(() => closeChecked(run))

  /** A payment whose shopper was sent away, with the parts of the address to come back to. */
  const away = async (reference: string, complete: Complete, fields: object = {}) => {
    answers.set(reference, complete)
    let returnUrl = ''
    const view = await run.debit(
      reference,
      {
        debit: (operation, context) => {
          context.sending()
          returnUrl = operation.returnUrl ?? ''
          return pending(bankPage, { refs: { bank: reference }, memo: { step: 1 } })
        },
      },
      { shopperResultUrl: shop, ...run.at('bank'), ...fields },
    )
    assert.deepEqual(view.redirect, bankPage.redirect)
    const [, id, token] = /^https:\/\/pay\.example\/v1\/return\/(\w+)\/([\w-]{43})$/.exec(
      returnUrl,
    )!
    assert.equal(id, view.id)
    return { id: view.id, token: token! }
  }
  const back = (
    id: string,
    token: string,
    query: Record<string, string> = {},
    gateway = run.gateway,
  ) => gateway.shoppers.cameBack(id, token, { method: 'GET', query, form: {} })
  const merchantOf = (id: string) => ({
    to: 'merchant',
    location: `https://shop.example/thanks?order=7&id=${id}&resourcePath=%2Fv1%2Fpayments%2F${id}`,
  })
  const timesAsked = (reference: string) =>
    asked.filter((call) => call.reference === reference).length

  test('an approval moves the payment, and the shopper goes on to the merchant', async () => {
    const { id, token } = await away('back-paid', () => approved({ reference: 'b1' }))
    assert.deepEqual(await back(id, token, { status: 'declined' }), merchantOf(id))
    assert.equal(await run.code(id), charged)
    const [call] = asked.filter(({ reference }) => reference === 'back-paid')
    assert.deepEqual(call!.back, {
      method: 'GET',
      query: { status: 'declined' },
      form: {},
      refs: { bank: 'back-paid' },
      memo: { step: 1 },
    })
  })

  test('a second return of a paid shopper asks nobody and leads to the merchant', async () => {
    const { id, token } = await away('back-twice', () => approved({ reference: 'b2' }))
    await back(id, token)
    assert.deepEqual(await back(id, token), merchantOf(id))
    assert.equal(timesAsked('back-twice'), 1)
  })

  test('returns at the same moment on two hosts ask once', async () => {
    const other = await run.another({ role: 'api', publicUrl: 'https://pay.example' })
    const told = Promise.withResolvers<Outcome>()
    const { id, token } = await away('back-both', () => told.promise)
    const first = back(id, token)
    const second = back(id, token, {}, other)
    while (timesAsked('back-both') === 0) await new Promise((resume) => setTimeout(resume, 5))
    told.resolve(approved({ reference: 'b3' }))
    assert.deepEqual(await Promise.all([first, second]), [merchantOf(id), merchantOf(id)])
    assert.equal(timesAsked('back-both'), 1)
    assert.equal(await run.code(id), charged)
    await other.close()
  })

  test('a refusal of the bank declines the payment', async () => {
    const { id, token } = await away('back-refused', () => declined('100.396.101'))
    await back(id, token)
    assert.equal(await run.code(id), '100.396.101')
  })

  for (const [what, complete] of [
    [
      'a connector that throws',
      () => {
        throw new Error('no line')
      },
    ],
    ['a connector that sent nothing', () => notSent('no line')],
    ['a bank that still waits', () => pending(bankPage)],
  ] as const) {
    test(`${what} leaves the payment pending, and the next return asks again`, async () => {
      const reference = what.replaceAll(' ', '-')
      const { id, token } = await away(reference, complete)
      assert.deepEqual(await back(id, token), merchantOf(id))
      assert.equal(await run.stateOf(id), 'pending')
      assert.deepEqual((await run.gateway.payments.get(id)).redirect, bankPage.redirect)
      answers.set(reference, () => approved({ reference: 'later' }))
      await back(id, token)
      assert.equal(await run.code(id), charged)
    })
  }

  test('a payment whose answer was lost is on the operators’ list once its shopper was asked about in vain', async () => {
    answers.set('back-lost', () => ({ is: 'unknown', why: 'the bank does not know yet' }))
    let returnUrl = ''
    const { id } = await run.debit(
      'back-lost',
      {
        debit: (operation, context) => {
          context.sending()
          returnUrl = operation.returnUrl ?? ''
          return { is: 'unknown', why: 'the answer is lost' }
        },
      },
      { shopperResultUrl: shop, ...run.at('bank') },
    )
    await run.dueLater(id)
    await back(id, returnUrl.split('/').at(-1)!)
    assert.equal(timesAsked('back-lost'), 1)
    assert.deepEqual(await run.kinds(id), ['undecided'])
    assert.equal(await run.stateOf(id), 'unknown')
  })

  test('a payment whose process died is not listed while its shopper is still at the bank', async () => {
    answers.set('back-died', () => pending(bankPage))
    let returnUrl = ''
    const told = Promise.withResolvers<Outcome>()
    const paying = run.debit(
      'back-died',
      {
        debit: (operation, context) => {
          context.sending()
          returnUrl = operation.returnUrl ?? ''
          return told.promise
        },
      },
      { shopperResultUrl: shop, ...run.at('bank') },
    )
    await until(async () => returnUrl !== '' || undefined)
    const [id, token] = returnUrl.split('/').slice(-2) as [string, string]
    await run.age(id)
    await run.dueLater(id)
    await back(id, token)
    assert.equal(await run.stateOf(id), 'pending')
    assert.deepEqual(await run.kinds(id), [])
    told.resolve(declined('800.100.203'))
    await paying
  })

  test('a process without the connector sends the shopper on, and another one asks', async () => {
    const { id, token } = await away('back-elsewhere', () => approved({ reference: 'b9' }))
    const without = await run.another({ role: 'api', plugins: [] } as never)
    assert.deepEqual(await back(id, token, {}, without), merchantOf(id))
    await without.close()
    assert.equal(await run.stateOf(id), 'pending')
    assert.deepEqual(await back(id, token), merchantOf(id))
    assert.equal(await run.code(id), charged)
  })

  test('another token, another payment and no payment are one answer', async () => {
    const one = await away('back-own-1', () => approved({ reference: 'b5' }))
    const other = await away('back-foreign', () => approved({ reference: 'b6' }))
    assert.equal(await back(one.id, other.token), undefined)
    assert.equal(await back(one.id, `${one.token}=`), undefined)
    assert.equal(await back('0'.repeat(32), one.token), undefined)
    assert.equal(await back('nothing', one.token), undefined)
    assert.equal(timesAsked('back-own-1'), 0)
  })

  test('a token that is wrong by one character is one of nothing', async () => {
    const { id, token } = await away('back-changed', () => approved({ reference: 'b8' }))
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    // The last bit of a token is no part of its bytes: the same bytes in another spelling.
    const flips = [...token].map((_, at) => [at, 32]).concat([[token.length - 1, 1]])
    for (const [at = 0, flip = 0] of flips) {
      const letter = letters[letters.indexOf(token[at]!) ^ flip]
      const changed = token.slice(0, at) + letter + token.slice(at + 1)
      assert.equal(await back(id, changed), undefined, `character ${at + 1}`)
    }
    assert.equal(timesAsked('back-changed'), 0)
    assert.deepEqual(await back(id, token), merchantOf(id))
  })

  test('a merchant without a page is no place to go', async () => {
    const { id, token } = await away('back-no-page', () => approved({ reference: 'b7' }), {
      shopperResultUrl: undefined,
    })
    assert.deepEqual(await back(id, token), { to: 'nowhere' })
    assert.equal(await run.code(id), charged)
  })

  test('an approval of another amount is undone, not answered as paid', async () => {
    const { id, token } = await away('other-amount', (operation) =>
      approved({ reference: 'b8' }, { amount: { ...operation.amount, minor: 1n } }),
    )
    await back(id, token)
    assert.notEqual(await run.code(id), charged)
  })
})
