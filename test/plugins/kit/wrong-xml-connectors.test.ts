/** A connector to an acquirer with XML passes the contract, and each of its usual mistakes fails it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contractCases, runContract } from '@tollgate/plugin-kit/testing'
import { sampled } from '../../rig/scope.ts'
import { failing } from './noticed.ts'
import { rightXmlConnector, wrongXmlConnectors } from './wrong-xml-connectors.ts'
import { xmlSandbox } from './xml-acquirer/sandbox.ts'

const pace = { parallel: 20, graceMs: 200 }

test('a connector that speaks XML by the helpers of the kit passes the contract', async () => {
  const { passed, failed, notSupported } = await runContract(rightXmlConnector, xmlSandbox, pace)
  assert.deepEqual(
    failed.map(({ name, error }) => `${name}: ${error.message}`),
    [],
  )
  assert.ok(passed.length >= 40, `${passed.length} cases apply`)
  const missing = new Set(notSupported.map(({ why }) => why))
  assert.ok(missing.has('the connector has no complete'), [...missing].join('; '))
})

describe('the contract suite and wrong XML connectors', () => {
  for (const { what, connector, noticed } of sampled(wrongXmlConnectors, 4)) {
    test(`the suite notices an XML connector that ${what}`, async () => {
      const failed = await failing(contractCases(connector, xmlSandbox, pace), noticed)
      assert.deepEqual(failed, [...noticed].sort())
    })
  }
})
