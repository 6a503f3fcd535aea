/** Every case of the suite notices the settlement with its mistake. A short run tries a few. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { settlementCases } from '@tollgate/plugin-kit/testing'
import { sampled } from '../../rig/scope.ts'
import { failing } from './noticed.ts'
import { simulatorFiles } from './simulator-files.ts'
import { fetchingBy, rightSettlement, wrongSettlements } from './wrong-settlements.ts'

describe('the contract suite and wrong settlements', () => {
  for (const { what, connector, noticed, sandbox = simulatorFiles } of sampled(
    wrongSettlements,
    6,
  )) {
    test(`the suite notices a connector that ${what}`, async () => {
      const failed = await failing(settlementCases(connector, sandbox), noticed)
      assert.deepEqual(failed, [...noticed].sort())
    })
  }

  test('the suite passes a fetch that drops each refused token', async () => {
    assert.deepEqual(await failing(settlementCases(fetchingBy(true), simulatorFiles)), [])
  })

  test('a mistake fails no other case', async () => {
    const { connector, noticed } = wrongSettlements.find(
      ({ what }) => what === 'ignores the count of the trailer',
    )!
    const failed = await failing(settlementCases(connector, simulatorFiles))
    assert.deepEqual(failed, [...noticed].sort())
  })
})

test('every case of the contract has a settlement that fails it', () => {
  const { cases, notSupported } = settlementCases(rightSettlement, simulatorFiles)
  assert.deepEqual(notSupported, [], 'the simulator supports every case')
  const failing = new Set(wrongSettlements.flatMap(({ noticed }) => noticed))
  const names = cases.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length, 'every case has its own name')
  assert.deepEqual(
    names.filter((name) => !failing.has(name)),
    [],
  )
})
