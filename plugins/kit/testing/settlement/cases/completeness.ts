import assert from 'node:assert/strict'
import type { SettlementCase } from '../case.ts'
import { type SettlementStage, samples } from '../harness.ts'
import { withoutText } from './purity.ts'

/** Cuts of a longer file are as many as this. */
const mostCuts = 3_000

/** An incomplete file is refused, and a complete one with strange lines is not. */
export const completeness: readonly SettlementCase[] = [
  {
    name: 'a file that is cut off anywhere is refused, or has lost nothing',
    async run({ read, sandbox }) {
      const file = sandbox.write(samples)
      const { items } = await read(file)
      const step = Math.max(1, Math.ceil(file.length / mostCuts))
      for (let length = 1; length < file.length; length += step) {
        const reading = await read(file.subarray(0, length))
        if (reading.is === 'refused') continue
        const where = `the first ${length} of ${file.length} bytes are taken for the whole file`
        assert.deepEqual(withoutText(reading.items), withoutText(items), where)
      }
    },
  },
  {
    name: 'a trailer with another count is refused',
    without: (_settlement, { damage }) =>
      damage.count === undefined ? 'the format has no count' : undefined,
    run: (stage) => mustRefuse(stage, stage.sandbox.damage.count!),
  },
  {
    name: 'a trailer with another sum is refused',
    without: (_settlement, { damage }) =>
      damage.total === undefined ? 'the format has no sums' : undefined,
    run: (stage) => mustRefuse(stage, stage.sandbox.damage.total!),
  },
  {
    name: 'a line of an unknown type is reported, and all others are read',
    async run({ read, sandbox }) {
      const file = sandbox.write(samples)
      const { items: before } = await read(file)
      const { items } = await read(sandbox.damage.type(file))
      const found = items.filter((item) => item.is === 'other')
      assert.equal(found.length, 1, 'one element is other')
      const [first, ...rest] = before.filter((item) => item.is === 'record')
      assert.equal(found[0]!.line, first!.line, 'other has the number of its line')
      assert.ok(found[0]!.type.trim() !== '' && found[0]!.text !== '', 'other has type and text')
      assert.deepEqual(
        items.filter((item) => item.is === 'record'),
        rest,
      )
      assert.ok(!items.some(({ is }) => is === 'bad'), 'an unknown type is not unreadable')
    },
  },
  {
    name: 'a line that cannot be read is bad, and all others are read',
    async run({ read, sandbox }) {
      const file = sandbox.write(samples)
      const { items: before } = await read(file)
      const [first, ...rest] = before.filter((item) => item.is === 'record')
      const { items } = await read(sandbox.damage.amount(file))
      const bad = items.filter((item) => item.is === 'bad')
      assert.equal(bad.length, 1, 'one element is bad')
      assert.equal(bad[0]!.line, first!.line, 'bad has the number of its line')
      assert.ok(bad[0]!.why.trim() !== '', 'bad says why')
      assert.deepEqual(
        items.filter((item) => item.is === 'record'),
        rest,
      )
    },
  },
  {
    name: 'bytes that are no file of the format are refused',
    async run({ read }) {
      const html = '<html><body><h1>Bad gateway</h1></body></html>\n'
      for (const bytes of [new Uint8Array(0), Buffer.from(html), Buffer.from('{"files":[]}')]) {
        const { is } = await read(bytes)
        assert.equal(is, 'refused', `${bytes.length} foreign bytes`)
      }
    },
  },
]

async function mustRefuse(
  { read, sandbox }: SettlementStage,
  damage: (file: Uint8Array) => Uint8Array,
): Promise<void> {
  const file = sandbox.write(samples)
  assert.equal((await read(file)).is, 'taken', 'the file is complete before it is changed')
  assert.equal((await read(damage(file))).is, 'refused')
}
