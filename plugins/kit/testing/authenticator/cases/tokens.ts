import assert from 'node:assert/strict'
import { type AuthenticatorCase, confirmedScene } from '../case.ts'
import { isProven, toldOf } from '../judge.ts'

const rule = 'call dropToken with the token that was refused, so that the next request gets another'

/** Access tokens that the server forgot before their time. An authenticator without tokens passes. */
export const tokens: readonly AuthenticatorCase[] = [
  {
    name: 'a token that the server forgot costs one authentication at most',
    async run(stage) {
      const scene = confirmedScene(stage)
      await stage.authenticate(stage.request(scene))
      stage.forgetTokens()
      const { answer, thrown } = await stage.authenticate(stage.request(scene))
      const was = `an authentication with it was ${toldOf(answer, thrown)}`
      assert.ok(isProven(answer) || answer.is === 'unknown' || answer.is === 'unavailable', was)
      const next = await stage.authenticate(stage.request(scene))
      const then = `${was}, the one after it ${toldOf(next.answer, next.thrown)}`
      assert.equal(next.answer.is, 'authenticated', `${then}; ${rule}`)
    },
  },
  {
    name: 'a token that the server forgot answers no enquiry',
    async run(stage) {
      const request = stage.request(confirmedScene(stage))
      await stage.authenticate(request)
      stage.forgetTokens()
      const { answer, thrown } = await stage.enquire(request)
      const was = `an enquiry with it was ${toldOf(answer, thrown)}`
      assert.ok(isProven(answer) || answer.is === 'unknown', was)
      const next = await stage.enquire(request)
      const then = `${was}, the one after it ${toldOf(next.answer, next.thrown)}`
      assert.equal(next.answer.is, 'authenticated', `${then}; ${rule}`)
    },
  },
]
