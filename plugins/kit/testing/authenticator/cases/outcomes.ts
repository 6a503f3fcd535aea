import assert from 'node:assert/strict'
import { type AuthenticatorCase, confirmedScene } from '../case.ts'
import { comparable, isProven, toldOf } from '../judge.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Answers without a shopper. */
export const outcomes: readonly AuthenticatorCase[] = [
  {
    name: 'each scene ends as expected',
    async run(stage) {
      const { decided } = stage.sandbox
      for (const wanted of ['authenticated', 'failed'] as const) {
        const has = decided.some(({ expected }) => expected.is === wanted)
        assert.ok(has, `sandbox.decided needs a scene that is ${wanted}`)
      }
      for (const scene of decided) {
        const { answer, thrown } = await stage.authenticate(stage.request(scene))
        const { is, eci, status } = scene.expected
        assert.equal(answer.is, is, `a scene that is ${is} was ${toldOf(answer, thrown)}`)
        if (eci !== undefined) assert.equal('eci' in answer && answer.eci, eci, `the eci of ${is}`)
        if (status !== undefined) assert.equal(answer.is === 'failed' && answer.status, status)
      }
    },
  },
  {
    name: 'a confirmation has its proof: eci, verification id, version and numbers',
    async run(stage) {
      const { versions } = stage.authenticator.supports
      for (const scene of stage.sandbox.decided) {
        const { answer } = await stage.authenticate(stage.request(scene))
        if (answer.is !== 'authenticated' && answer.is !== 'attempted') continue
        assert.match(answer.eci ?? '', /^0[1-7]$/, 'the eci of a confirmation')
        const proof = answer.verificationId?.reveal() ?? ''
        const rule = 'a verification id is 20 bytes as 28 characters of base64'
        assert.ok(/^[A-Za-z0-9+/]{27}=$/.test(proof), rule)
        assert.ok(versions.includes(answer.version), 'the version is one of supports.versions')
        for (const name of ['dsTransactionId', 'acsTransactionId'] as const) {
          assert.ok(answer[name] === undefined || uuid.test(answer[name]), `${name} is a UUID`)
        }
      }
    },
  },
  {
    name: 'an answer that confirms nothing has no proof',
    async run(stage) {
      for (const scene of stage.sandbox.decided) {
        const { answer } = await stage.authenticate(stage.request(scene))
        if (isProven(answer) || answer.is === 'informational') continue
        const told = answer as { readonly eci?: string; readonly verificationId?: unknown }
        assert.equal(told.verificationId, undefined, `${answer.is} has no verification id`)
        assert.ok(!/^0[1256]$/.test(told.eci ?? ''), `${answer.is} has no eci of a confirmation`)
      }
    },
  },
  {
    name: 'the same key is one authentication',
    async run(stage) {
      const scenes = [confirmedScene(stage), stage.sandbox.challenge]
      for (const scene of scenes.flatMap((known) => known ?? [])) {
        const request = stage.request(scene)
        const before = (await stage.server.begun()).length
        const first = await stage.authenticate(request)
        const again = await stage.authenticate(request)
        const rule = 'the same key has the same answer'
        assert.deepEqual(comparable(again.answer), comparable(first.answer), rule)
        const begun = (await stage.server.begun()).length - before
        assert.equal(begun, 1, 'the same key began one authentication')
      }
    },
  },
  {
    name: 'the same key at once is one authentication',
    async run(stage) {
      const request = stage.request(confirmedScene(stage))
      const all = await Promise.all(
        Array.from({ length: 20 }, () => stage.authenticate(request).then(({ answer }) => answer)),
      )
      const proven = all.filter(isProven).map(comparable)
      assert.ok(proven.length > 0, 'one of the answers is a confirmation')
      for (const one of proven) assert.deepEqual(one, proven[0], 'every confirmation is the same')
      const begun = (await stage.server.begun()).length
      assert.equal(begun, 1, 'the same key at once began one authentication')
    },
  },
  {
    name: 'a known key confirms no other amount',
    async run(stage) {
      const request = stage.request(confirmedScene(stage))
      const first = await stage.authenticate(request)
      assert.ok(isProven(first.answer), `the first was ${toldOf(first.answer, first.thrown)}`)
      const dearer = { minor: request.amount.minor * 100n, currency: request.amount.currency }
      const { answer } = await stage.authenticate({ ...request, amount: dearer })
      if (!isProven(answer)) return
      const { amount } = answer as { readonly amount?: unknown }
      assert.deepEqual(amount, request.amount, 'the answer states the amount that was confirmed')
    },
  },
]
