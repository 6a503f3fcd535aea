/** The work of the largest requests, counted: a time would depend on the machine. */
import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { hasDigits } from '../../../core/redaction/card-numbers.ts'
import { decode } from '../../../core/request/decode.ts'
import { readJson } from '../../../core/request/json.ts'
import { ParameterErrors } from '../../../core/request/parameter-errors.ts'
import { type Level, planOf } from '../../../core/request/plan.ts'
import { limits, operations } from '../../../schemas/index.ts'

type Tree = { [key: string]: string | Tree | Tree[] }

const escapes = '%2531'.repeat(1000)

/** Every text that the tables take, each as long as it may be and full of escapes, in as many elements. */
function everything(level: Level, elements: number): Tree {
  const tree: Tree = {}
  const put = (path: readonly string[], value: Tree[string]) => {
    const parent = path.slice(0, -1).reduce<Tree>((at, key) => {
      at[key] ??= {}
      return at[key] as Tree
    }, tree)
    parent[path.at(-1)!] = value
  }
  for (const { path, maxCharacters, isAlias } of level.leaves.values()) {
    if (!isAlias) put(path, escapes.slice(0, maxCharacters))
  }
  for (const { path, maxCharacters } of level.free.values()) {
    for (let no = 0; no < elements; no += 1) {
      put([...path, `name${no}`], escapes.slice(0, maxCharacters))
    }
  }
  for (const { path, item, maxIndex } of level.lists.values()) {
    const element = everything(item, elements)
    put(path, Array(Math.min(elements, maxIndex)).fill(element))
  }
  return tree
}

const read = (operation: string, values: Tree, stored?: Tree) =>
  decode(planOf(operations().get(operation)!), { values, stored }, new ParameterErrors())

describe('the search for card data', () => {
  /** Characters of the largest request of each operation; of those that are not here, at most 6,000. */
  const largest: Readonly<Record<string, number>> = {
    'payments.create': 262_033,
    'payments.followUp': 261_997,
    'threeDSecure.create': 262_121,
    'registrations.create': 261_961,
    'registrations.pay': 261_999,
    'registrations.update': 95_983,
    'checkouts.create': 261_997,
    'checkouts.update': 261_997,
    'checkouts.pay': 15_696,
    'checkouts.register': 15_664,
    'schedules.create': 262_029,
    'schedules.preview': 262_029,
  }

  test(`reads at most ${limits.textCharacters} characters of a request of any operation`, () => {
    const counted: Record<string, number> = {}
    for (const [name, operation] of operations()) {
      const { searchedCharacters } = read(name, everything(planOf(operation).root, 40))
      if (searchedCharacters > 6_000) counted[name] = searchedCharacters
    }
    assert.deepEqual(counted, largest)
    assert.ok(Math.max(...Object.values(counted)) <= limits.textCharacters)
  })

  test('reads nothing again that an earlier request brought', () => {
    const items = Array.from({ length: 100 }, (_, no) => ({ name: `Chair ${no}` }))
    const customParameters = { note: 'two chairs' }
    const stored = { cart: { items }, customParameters, billing: { city: 'Berlin' } }
    const now = { ...stored, billing: { city: 'Berlin', street1: 'Kurfürstendamm 1' } }
    assert.equal(read('payments.create', now, stored).searchedCharacters, 'Kurfürstendamm 1'.length)
    const changed = { ...stored, cart: { items: [{ name: 'Table' }, ...items.slice(1)] } }
    assert.equal(read('payments.create', changed, stored).searchedCharacters, 'Table'.length)
  })
})

test('errors of a JSON body read no more of a name than a name may have', () => {
  const long = 'A'.repeat(100_000)
  const body = `{"${long}": {"a": 1, "a": 1, "b": [{"c": {"d": 1, "d": 1}}]}}`
  const lengths: number[] = []
  class Measured extends ParameterErrors {
    override add(name: string, message: string): void {
      lengths.push(name.length)
      super.add(name, message)
    }
  }
  readJson(Buffer.from(body), new Measured())
  assert.equal(lengths.length, 2)
  assert.ok(Math.max(...lengths) <= 2 * limits.parameterNameCharacters, `${lengths}`)
})

test('a character that was looked at once is known, whatever texts came before', () => {
  const hangul = Array.from({ length: 11_172 }, (_, no) => String.fromCodePoint(0xac00 + no)).join(
    '',
  )
  hasDigits(hangul, 13)
  const lookedUp = mock.method(String, 'fromCodePoint')
  hasDigits(hangul, 13)
  assert.equal(lookedUp.mock.callCount(), 0)
  lookedUp.mock.restore()
})
