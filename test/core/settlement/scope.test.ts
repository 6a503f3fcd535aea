/** What a person reads who imports a file for a connector that cannot read it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import plugin from '../../../connectors/acquirer-json/index.ts'
import { Registry } from '../../../core/connector/registry.ts'
import { settlementOf } from '../../../core/settlement/scope.ts'

test('a connector that is not installed differs from one that reads no settlement files', () => {
  const registry = new Registry([plugin], { 'acquirer-json': { url: 'https://bank.example' } })
  const refused = (connector: string) => () => settlementOf({ registry }, connector)
  assert.throws(refused('acquirer-json'), {
    message: 'The connector acquirer-json reads no settlement files.',
  })
  assert.throws(refused('adyen'), { message: 'The connector adyen is not installed.' })
})
