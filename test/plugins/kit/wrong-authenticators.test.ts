/** Every case of the suite notices the authenticator with its mistake. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { authenticatorCases, runAuthenticatorContract } from '@tollgate/plugin-kit/testing'
import { simulatorHttpAuthenticator } from '../../../connectors/simulator/http-connector.ts'
import { issuerOverHttp } from './simulator-issuer.ts'
import { wrongAuthenticators } from './wrong-authenticators.ts'

const quick = { patienceMs: 500, graceMs: 200 }
const patient = { patienceMs: 5_000, graceMs: 2_000 }

describe('the contract suite and wrong authenticators', () => {
  for (const { what, authenticator, noticed } of wrongAuthenticators) {
    test(`the suite notices an authenticator that ${what}`, async () => {
      const failing = async (pace: typeof quick) => {
        const { failed } = await runAuthenticatorContract(authenticator, issuerOverHttp, pace)
        return failed.map(({ name }) => name).sort()
      }
      const expected = [...noticed].sort()
      const first = await failing(quick)
      // On a busy machine an answer may miss the short time, so a difference is looked at with more patience.
      const names = isDeepStrictEqual(first, expected) ? first : await failing(patient)
      assert.deepEqual(names, expected)
    })
  }
})

test('every case of the contract has an authenticator that fails it', () => {
  const { cases, notSupported } = authenticatorCases(simulatorHttpAuthenticator, issuerOverHttp)
  assert.deepEqual(notSupported, [], 'the simulated issuer supports every case')
  const failing = new Set(wrongAuthenticators.flatMap(({ noticed }) => noticed))
  const names = cases.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length, 'every case has its own name')
  assert.deepEqual(
    names.filter((name) => !failing.has(name)),
    [],
  )
})
