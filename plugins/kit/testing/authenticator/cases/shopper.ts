import assert from 'node:assert/strict'
import type { Json } from '../../../outcome.ts'
import { nameOf, waysBack } from '../../cases/completion.ts'
import { hangs, lineFaults } from '../../cases/line.ts'
import {
  type AuthenticatorCase,
  act,
  needsAll,
  needsChallenge,
  needsDeed,
  needsServer,
  sendAway,
} from '../case.ts'
import { comparable, isProven, toldOf } from '../judge.ts'
import type { Deed } from '../sandbox.ts'

/** An answer that ends the authentication as a shopper could only do on the page. */
const isEnd = (is: string): boolean => !['shopper', 'unknown', 'unavailable'].includes(is)

/** Memos that a cheat could not make, but a mistake could. */
const strangeMemos: readonly (Json | undefined)[] = [undefined, null, {}, [], 'x', { key: 'x' }, 7]

const deedCase = (deed: Deed): AuthenticatorCase => ({
  name: `a shopper who can ${deed} does so on the issuer's page`,
  without: needsDeed(deed),
  async run(stage) {
    const expected = stage.sandbox.challenge!.deeds[deed]
    const away = await sendAway(stage)
    const brought = await act(stage, away, deed)
    const first = await stage.complete(away.request, brought, away.memo)
    const was = toldOf(first.answer, first.thrown)
    assert.equal(first.answer.is, expected, `a shopper who can ${deed} was ${was}`)
    const again = await stage.complete(away.request, brought, away.memo)
    const rule = 'a second return tells the same'
    assert.deepEqual(comparable(again.answer), comparable(first.answer), rule)
    const { answer: found } = await stage.enquire(away.request)
    assert.deepEqual(comparable(found), comparable(first.answer), 'an enquiry finds the same')
  },
})

/** The shopper acts on the issuer's page and returns. The browser proves nothing. */
export const shopper: readonly AuthenticatorCase[] = [
  {
    name: 'a challenge sends the shopper to a web address, for a time',
    without: needsChallenge,
    async run(stage) {
      const { redirect, expiresAt, memo } = await sendAway(stage)
      for (const { url } of [redirect, ...(redirect.preconditions ?? [])]) {
        assert.match(url, /^https?:\/\//, 'an address of the shopper is one of http or https')
      }
      if (expiresAt !== undefined) {
        assert.ok(expiresAt instanceof Date, 'expiresAt is a Date')
        assert.ok(expiresAt.getTime() > stage.clock.ms, 'expiresAt lies in the future')
      }
      assert.deepEqual(memo, memo && JSON.parse(JSON.stringify(memo)), 'the memo is plain JSON')
    },
  },
  deedCase('confirm'),
  deedCase('refuse'),
  deedCase('cancel'),
  {
    name: 'a shopper who returns without having acted ends nothing',
    without: needsChallenge,
    async run(stage) {
      const away = await sendAway(stage)
      const { forged } = stage.sandbox.challenge!
      for (const brought of [...waysBack({}), ...waysBack(forged)]) {
        const { answer, thrown } = await stage.complete(away.request, brought, away.memo)
        const was = `a return by ${nameOf(brought)} was ${toldOf(answer, thrown)}`
        assert.ok(!isEnd(answer.is), was)
      }
      const { answer } = await stage.enquire(away.request)
      assert.equal(answer.is, 'shopper', 'the challenge is still open')
    },
  },
  {
    name: 'the return and the memo of another shopper confirm nobody',
    without: needsDeed('confirm'),
    async run(stage) {
      const away = await sendAway(stage)
      const other = await sendAway(stage)
      const { query, form } = await act(stage, other, 'confirm')
      const { answer: confirmed } = await stage.complete(
        other.request,
        { method: 'GET', query, form: {} },
        other.memo,
      )
      assert.ok(isProven(confirmed), `the other shopper was ${toldOf(confirmed)}`)
      for (const brought of waysBack({ ...query, ...form })) {
        for (const memo of [away.memo, other.memo]) {
          const { answer } = await stage.complete(away.request, brought, memo)
          const was = `a shopper with the return of another was ${toldOf(answer)}`
          assert.ok(!isEnd(answer.is), was)
        }
      }
    },
  },
  {
    name: 'a memo that is lost or strange confirms nobody',
    without: needsChallenge,
    async run(stage) {
      const away = await sendAway(stage)
      for (const memo of strangeMemos) {
        const { answer } = await stage.complete(away.request, waysBack({})[0]!, memo)
        const was = `a return with the memo ${JSON.stringify(memo)} was ${toldOf(answer)}`
        assert.ok(!isEnd(answer.is), was)
      }
    },
  },
  {
    name: 'a confirmed shopper is confirmed by every kind of return',
    without: needsDeed('confirm'),
    async run(stage) {
      const away = await sendAway(stage)
      const { query, form } = await act(stage, away, 'confirm')
      for (const method of ['POST', 'GET'] as const) {
        const brought = { method, query, form: method === 'POST' ? { cres: 'e30', ...form } : {} }
        const { answer, thrown } = await stage.complete(away.request, brought, away.memo)
        assert.ok(isProven(answer), `a return by ${method} was ${toldOf(answer, thrown)}`)
      }
    },
  },
  {
    name: 'a broken answer about a returned shopper proves nothing',
    without: needsAll(needsServer, needsDeed('confirm')),
    async run(stage) {
      const away = await sendAway(stage)
      const brought = await act(stage, away, 'confirm')
      for (const [name, fault] of Object.entries(lineFaults)) {
        const met = stage.front.meet(fault, 'any')
        const until = hangs(fault) ? { until: met.over } : {}
        const { answer } = await stage.complete(away.request, brought, away.memo, until)
        assert.ok(met.wasMet, 'a return sends a request to the server')
        // An authenticator that asks once more may know the truth.
        const isTrue = answer.is === 'authenticated' || answer.is === 'unknown'
        assert.ok(isTrue, `${name}: the return was ${toldOf(answer)}; throw instead`)
      }
    },
  },
]
