import assert from 'node:assert/strict'
import { hangs, lineFaults } from '../../cases/line.ts'
import {
  type AuthenticatorCase,
  confirmedScene,
  needsChallenge,
  needsServer,
  sendAway,
} from '../case.ts'
import { comparable, isProven, toldOf } from '../judge.ts'

/** Asking later, in another process, without the card. */
export const enquiry: readonly AuthenticatorCase[] = [
  {
    name: 'an enquiry finds the same answer, with its proof',
    async run(stage) {
      for (const scene of stage.sandbox.decided) {
        const request = stage.request(scene)
        const { answer } = await stage.authenticate(request)
        const { answer: found, thrown } = await stage.enquire(request)
        assert.equal(found.is, answer.is, `an enquiry returns ${toldOf(found, thrown)}`)
        const rule = 'no engine stores a proof: an enquiry finds the same one again'
        assert.deepEqual(comparable(found), comparable(answer), rule)
      }
    },
  },
  {
    name: 'an enquiry about an unused key returns notFound, and begins nothing',
    async run(stage) {
      const request = stage.request(confirmedScene(stage))
      const { answer, thrown } = await stage.enquire(request)
      assert.equal(answer.is, 'notFound', `an enquiry returns ${toldOf(answer, thrown)}`)
      assert.deepEqual(await stage.server.begun(), [], 'an enquiry begins no authentication')
    },
  },
  {
    name: 'an enquiry about an open challenge still wants the shopper',
    without: needsChallenge,
    async run(stage) {
      const { request, redirect } = await sendAway(stage)
      const { answer, thrown } = await stage.enquire(request)
      if (answer.is !== 'shopper') {
        assert.fail(`an enquiry about an open challenge returns ${toldOf(answer, thrown)}`)
      }
      assert.equal(answer.next.redirect.url, redirect.url, 'the page is the same')
    },
  },
  {
    name: 'an enquiry finds an authentication whose answer was lost',
    without: needsServer,
    async run(stage) {
      const request = stage.request(confirmedScene(stage))
      const met = stage.front.meet({ reaches: true, damage: { do: 'silence' } }, 'any')
      const lost = await stage.authenticate(request, { until: met.over })
      assert.ok(met.wasMet, 'an authentication sends a request')
      assert.ok(!isProven(lost.answer), `without an answer it was ${toldOf(lost.answer)}`)
      const { answer, thrown } = await stage.enquire(request)
      assert.equal(answer.is, 'authenticated', `an enquiry returns ${toldOf(answer, thrown)}`)
    },
  },
  {
    name: 'a broken answer to an enquiry proves nothing',
    without: needsServer,
    async run(stage) {
      const request = stage.request(confirmedScene(stage))
      await stage.authenticate(request)
      for (const [name, fault] of Object.entries(lineFaults)) {
        const met = stage.front.meet(fault, 'any')
        const { answer } = await stage.enquire(request, hangs(fault) ? { until: met.over } : {})
        assert.ok(met.wasMet, 'an enquiry sends a request')
        // An authenticator that asks once more may know the truth.
        const isTrue = answer.is === 'authenticated' || answer.is === 'unknown'
        assert.ok(isTrue, `${name}: the enquiry returned ${toldOf(answer)}`)
      }
    },
  },
]
