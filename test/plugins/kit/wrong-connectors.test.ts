/** Every case of the suite notices the connector with its mistake. A short run tries a few. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contractCases } from '@tollgate/plugin-kit/testing'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { sandbox } from '../../../connectors/acquirer-json/sandbox/sandbox.ts'
import { sampled } from '../../rig/scope.ts'
import { failing } from './noticed.ts'
import { wrongConnectors } from './wrong-connectors.ts'

const pace = { parallel: 20 }
/** Example Bank closes keys that it never saw. */
const latecomers =
  'a request that arrives after the reversal of its key is told by an event, and can be undone'

/** Example Bank signs no time. */
const aged = 'a message that was signed too long ago is not proven'

/** Example Bank writes no files. */
const references = 'settlement files call payments by references that outcomes have'

/** Example Bank signs its messages. */
const unproven =
  'a message without a proof names the operation to ask about, and claims nothing of it'

/** Example Bank has the units of ISO 4217. */
const rounded = 'an amount that the acquirer has no unit for is never rounded'

/** Example Bank approves no parts. */
const part = 'an event of a partial approval claims the part'

const impatient = { parallel: 20, patienceMs: 500, graceMs: 200 }

describe('the contract suite and wrong connectors', () => {
  for (const { what, connector, noticed, isEndless } of sampled(wrongConnectors, 16)) {
    test(`the suite notices a connector that ${what}`, async () => {
      const options = isEndless === true ? impatient : pace
      const failed = await failing(contractCases(connector, sandbox, options), noticed)
      assert.deepEqual(failed, [...noticed].sort())
    })
  }

  test('a mistake fails no other case', async () => {
    const { connector, noticed } = wrongConnectors.find(
      ({ what }) => what === 'refunds everything, whatever was asked for',
    )!
    const failed = await failing(contractCases(connector, sandbox, pace))
    assert.deepEqual(failed, [...noticed].sort())
  })
})

test('every case of the contract has a connector that fails it', () => {
  const { cases, notSupported } = contractCases(acquirerJson, sandbox)
  assert.deepEqual(
    notSupported.map(({ name }) => name),
    [references, rounded, latecomers, unproven, part, aged],
    'the example connector supports every case but six, which other tests have mistakes for',
  )
  const failing = new Set(wrongConnectors.flatMap(({ noticed }) => noticed))
  const names = cases.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length, 'every case has its own name')
  assert.deepEqual(
    names.filter((name) => !failing.has(name)),
    [],
  )
})
