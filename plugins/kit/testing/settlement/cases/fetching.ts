import assert from 'node:assert/strict'
import { leakIn, secretsOf } from '../../canary.ts'
import { lineFaults } from '../../cases/line.ts'
import { listening } from '../../cases/secrets.ts'
import { needsFetch, type SettlementCase } from '../case.ts'
import type { Fetched, Institute, SettlementStage } from '../harness.ts'

const longestCursor = 4_000

/** An institute with that many files. */
async function withFiles(stage: SettlementStage, count: number): Promise<Institute> {
  const institute = await stage.open()
  for (let file = 0; file < count; file += 1) await institute.put()
  return institute
}

const placesOf = (files: readonly Fetched[]) => files.map(({ name, cursor }) => [name, cursor])

/** Files come whole, in order, and each once. */
export const fetching: readonly SettlementCase[] = [
  {
    name: 'fetched files are complete files of the account, oldest first',
    without: needsFetch,
    async run(stage) {
      const institute = await withFiles(stage, 0)
      assert.deepEqual(await institute.fetch(), [], 'no file at first')
      const places: (readonly string[])[] = []
      for (let count = 1; count <= 3; count += 1) {
        await institute.put()
        const files = await institute.fetch()
        assert.equal(files.length, count, 'all files without a cursor')
        assert.deepEqual(placesOf(files).slice(0, -1), places, 'the new file is the last one')
        places.push(...placesOf(files.slice(-1)))
        await mustBeOfAccount(stage, institute, files.at(-1)!)
      }
    },
  },
  {
    name: 'a fetch continues behind its cursor, and yields nothing twice',
    without: needsFetch,
    async run(stage) {
      const institute = await withFiles(stage, 3)
      const all = await institute.fetch()
      assert.equal(new Set(all.map(({ name }) => name)).size, all.length, 'names differ')
      for (const [at, { cursor }] of all.entries()) {
        assert.ok(
          cursor.length <= longestCursor,
          `a cursor has at most ${longestCursor} characters`,
        )
        const rest = await institute.fetch(cursor)
        assert.deepEqual(placesOf(rest), placesOf(all.slice(at + 1)), 'the files behind a cursor')
      }
      await institute.put()
      const fresh = await institute.fetch(all.at(-1)!.cursor)
      assert.equal(fresh.length, 1, 'one new file')
      assert.ok(!all.some(({ name }) => name === fresh[0]!.name), 'the new file has a new name')
    },
  },
  {
    name: 'a repeated fetch yields the same files, byte for byte',
    without: needsFetch,
    async run(stage) {
      const institute = await withFiles(stage, 2)
      const first = await institute.fetch()
      await institute.put()
      const again = await institute.fetch()
      assert.deepEqual(again.slice(0, first.length), first)
    },
  },
  {
    name: 'a fault of the line never passes as a file or as no file',
    without: (settlement, sandbox) =>
      needsFetch(settlement, sandbox) ??
      (sandbox.open === undefined ? 'the sandbox has no server' : undefined),
    async run(stage) {
      const institute = await withFiles(stage, 2)
      const right = await institute.fetch()
      const requests = Math.min(await institute.requests(), 5)
      const faults = Object.entries(lineFaults).filter(
        ([, { damage }]) => damage.do !== 'silence' && damage.do !== 'stall',
      )
      for (const [what, fault] of faults) {
        for (let request = 0; request < requests; request += 1) {
          const files = await fetchUnder(institute, fault, request)
          if (files === undefined) continue
          assert.deepEqual(placesOf(files), placesOf(right), what)
          for (const [at, { bytes }] of files.entries()) {
            const { is } = await stage.read(bytes)
            const isWhole = bytes.equals(right[at]!.bytes)
            assert.ok(isWhole || is === 'refused', `${what}: another file is taken`)
          }
        }
      }
      assert.deepEqual(await institute.fetch(), right, 'the next fetch is whole again')
    },
  },
  {
    name: 'a token that the institute forgot costs one fetch at most',
    without: needsFetch,
    async run(stage) {
      const institute = await withFiles(stage, 2)
      const right = await institute.fetch()
      institute.forgetTokens()
      // Nothing is said of what was not fetched: the fetch throws, or yields all files.
      const files = await institute.fetch().catch(() => undefined)
      if (files !== undefined) assert.deepEqual(files, right, 'a refused token is no empty list')
      const rule = 'call dropToken with the token that was refused: the next fetch gets another'
      assert.deepEqual(await institute.fetch().catch(() => rule), right, rule)
    },
  },
  {
    name: 'no name, cursor, record or log of a fetch contains credentials',
    without: needsFetch,
    async run(stage) {
      const institute = await withFiles(stage, 1)
      const canaries = secretsOf(stage.connector, institute)
      const printed = await listening(async () => {
        const places = placesOf(await institute.fetch())
        assert.equal(leakIn(places, canaries), undefined, 'a name or cursor holds a credential')
      })
      for (const { where, what } of [...institute.said, { where: 'console', what: printed }]) {
        assert.equal(leakIn(what, canaries), undefined, `${where} holds a credential`)
      }
    },
  },
]

/** Undefined: the fetch threw. */
async function fetchUnder(
  { front, fetch }: Institute,
  fault: (typeof lineFaults)[string],
  passing: number,
): Promise<readonly Fetched[] | undefined> {
  // A slow answer is a whole one: the earlier requests pass.
  for (let request = 0; request < passing; request += 1) {
    front.meet({ reaches: true, damage: { do: 'drip' } }, 'any')
  }
  front.meet(fault, 'any')
  return fetch().catch((error: unknown) => {
    if (error instanceof assert.AssertionError) throw error
    return undefined
  })
}

async function mustBeOfAccount(
  { read, settlement }: SettlementStage,
  { account }: Institute,
  { bytes }: Fetched,
): Promise<void> {
  const reading = await read(bytes)
  if (reading.is === 'refused') assert.fail(`a fetched file is refused: ${reading.why}`)
  const number = settlement.merchantOf(account)
  assert.ok(
    number.trim().length >= 5 && number.trim().length <= 64,
    'merchantOf: 5 to 64 characters',
  )
  const records = reading.items.filter((item) => item.is === 'record')
  assert.ok(records.length > 0, 'the file has a record')
  for (const { merchantNumber } of records) {
    const isSame = merchantNumber.trim().toLowerCase() === number.trim().toLowerCase()
    assert.ok(isSame, `a record is of ${merchantNumber}, and merchantOf says ${number}`)
  }
}
