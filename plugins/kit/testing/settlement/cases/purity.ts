import assert from 'node:assert/strict'
import type { SettlementItem } from '../../../settlement.ts'
import type { SettlementCase } from '../case.ts'
import { chunksOf, type SettlementStage, sample, samples } from '../harness.ts'

/** A line as it came differs where the file differs, and so does its number. */
export const withoutText = (items: readonly SettlementItem[]): readonly unknown[] =>
  items.map((item) => ('text' in item ? { ...item, text: '', line: 0 } : item))

/** The parser has no state, no clock, and no opinion about chunks. */
export const purity: readonly SettlementCase[] = [
  {
    name: 'the declaration of the settlement is complete',
    async run({ settlement }) {
      const { format, institute, zone, refs } = settlement
      assert.match(format, /^\S(.{0,30}\S)?$/, 'format has 1 to 32 characters')
      assert.match(institute, /^\S(.{0,62}\S)?$/, 'institute has 1 to 64 characters')
      assert.doesNotThrow(() => new Intl.DateTimeFormat('en', { timeZone: zone }), 'zone is IANA')
      assert.ok(refs.length <= 3 && new Set(refs).size === refs.length, 'refs are three at most')
      for (const name of refs) assert.match(name, /^\S{1,64}$/, 'refs are names in outcome.refs')
    },
  },
  {
    name: 'the same bytes give the same elements, at any time and after any other file',
    async run(stage) {
      const file = stage.sandbox.write(samples)
      const first = await taken(stage, file)
      await stage.read(stage.sandbox.write([sample({ reference: 'another' })]))
      const again = await aYearLater(() => taken(stage, file))
      assert.deepEqual(again, first)
      // Two files at once.
      const both = await Promise.all([taken(stage, file, 7), taken(stage, file, 11)])
      assert.deepEqual(both, [first, first])
    },
  },
  {
    name: 'any division of the bytes gives the same elements',
    async run(stage) {
      const file = stage.sandbox.write(samples)
      const whole = await taken(stage, file)
      for (const size of [1, 2, 3, 7, 64, 1000]) {
        assert.deepEqual(await taken(stage, file, size), whole, `in chunks of ${size} bytes`)
      }
    },
  },
  {
    name: 'the first records come before the file ends, however long it is',
    async run({ settlement, sandbox }) {
      const many = Array.from({ length: 5_000 }, (_, at) => sample({ reference: `order-${at}` }))
      const file = sandbox.write(many)
      let read = 0
      const bytes = (async function* () {
        for await (const chunk of chunksOf(file, 4096)) {
          read += chunk.length
          yield chunk
        }
      })()
      for await (const { is } of settlement.parse(bytes)) {
        if (is === 'record') break
      }
      assert.ok(read < file.length / 2, `${read} of ${file.length} bytes before the first record`)
    },
  },
]

async function taken(stage: SettlementStage, file: Uint8Array, size?: number) {
  const reading = await stage.read(file, size)
  if (reading.is === 'refused') assert.fail(`a complete file is refused: ${reading.why}`)
  return reading.items
}

const yearMs = 365 * 24 * 60 * 60_000

/** Runs with the machine's clock a year ahead. */
async function aYearLater<T>(work: () => Promise<T>): Promise<T> {
  const Now = Date
  class Later extends Now {
    constructor(...given: [] | [number | string | Date]) {
      super(...((given.length === 0 ? [Now.now() + yearMs] : given) as [number]))
    }
    static override now = () => Now.now() + yearMs
  }
  globalThis.Date = Later as DateConstructor
  try {
    return await work()
  } finally {
    globalThis.Date = Now
  }
}
