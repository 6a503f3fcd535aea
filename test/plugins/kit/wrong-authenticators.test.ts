/** Every case of the suite notices the authenticator with its mistake. A short run tries a few. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { authenticatorCases } from '@tollgate/plugin-kit/testing'
import { simulatorHttpAuthenticator } from '../../../connectors/simulator/http-connector.ts'
import { sampled } from '../../rig/scope.ts'
import { failing } from './noticed.ts'
import { issuerOverHttp } from './simulator-issuer.ts'
import { tokenAuthenticator } from './wrong-authenticators/tokens.ts'
import { wrongAuthenticators } from './wrong-authenticators.ts'

const impatient = { patienceMs: 500, graceMs: 200 }

describe('the contract suite and wrong authenticators', () => {
  for (const { what, authenticator, noticed, isEndless } of sampled(wrongAuthenticators, 6)) {
    test(`the suite notices an authenticator that ${what}`, async () => {
      const options = isEndless === true ? impatient : {}
      const failed = await failing(
        authenticatorCases(authenticator, issuerOverHttp, options),
        noticed,
      )
      assert.deepEqual(failed, [...noticed].sort())
    })
  }

  test('the suite passes an authenticator that drops each refused token', async () => {
    assert.deepEqual(await failing(authenticatorCases(tokenAuthenticator(), issuerOverHttp)), [])
  })

  test('a mistake fails no other case', async () => {
    const { authenticator, noticed } = wrongAuthenticators.find(
      ({ what }) => what === 'takes an unknown key for a refused shopper',
    )!
    const failed = await failing(authenticatorCases(authenticator, issuerOverHttp))
    assert.deepEqual(failed, [...noticed].sort())
  })
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
