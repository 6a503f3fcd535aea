/** Every case of the suite notices the connector with its mistake. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contractCases, runContract } from '@tollgate/plugin-kit/testing'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { sandbox } from '../../../connectors/acquirer-json/sandbox/sandbox.ts'
import { wrongConnectors } from './wrong-connectors.ts'

describe('the contract suite and wrong connectors', () => {
  for (const { what, connector, noticed } of wrongConnectors) {
    test(`the suite notices a connector that ${what}`, async () => {
      const { failed } = await runContract(connector, sandbox, { parallel: 20, graceMs: 200 })
      assert.deepEqual(failed.map(({ name }) => name).sort(), [...noticed].sort())
    })
  }
})

test('every case of the contract has a connector that fails it', () => {
  const { cases, notSupported } = contractCases(acquirerJson, sandbox)
  assert.deepEqual(notSupported, [], 'the example connector supports every case')
  const failing = new Set(wrongConnectors.flatMap(({ noticed }) => noticed))
  const names = cases.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length, 'every case has its own name')
  assert.deepEqual(
    names.filter((name) => !failing.has(name)),
    [],
  )
})
