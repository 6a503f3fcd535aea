/**
 * The attacks of `npm run attacks`, and proof that they detect flaws: in their short profile in a long run, with a few
 * inputs of each in `npm test`.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { type Attack, carryOut, redacted } from '../attacks/attack.ts'
import { attacks } from '../attacks/attacks.ts'
import { foreignIds, shapeOf } from '../attacks/foreign.ts'
import { decoding } from '../attacks/fuzz.ts'
import { type Ground, layGround } from '../attacks/ground.ts'
import { mannWhitney } from '../attacks/guessing.ts'
import { HostLog } from '../attacks/host.ts'
import { wrongWith } from '../attacks/judge.ts'
import { memory } from '../attacks/memory.ts'
import { Random } from '../attacks/random.ts'
import type { Answer } from '../attacks/wire.ts'
import { bundled } from '../rig/programs.ts'
import { isLong } from '../rig/scope.ts'

const profile = isLong ? 'short' : 'sample'

/** Foreign ids have a test of their own, `foreign-ids`, which tries every kind of id. Few requests use up no memory. */
const isTried = (attack: Attack) => attack !== foreignIds && (isLong || attack !== memory)

describe('hostile input reveals no flaw', { concurrency: false }, () => {
  let ground: Ground
  /** The digest of the bodies that were decoded. */
  let decoded: number | string | undefined
  before(async () => {
    ground = await layGround()
  })
  after(() => ground.close())

  for (const attack of attacks.filter(isTried)) {
    test(attack.title, async () => {
      const random = new Random(`1 ${attack.name}`)
      const report = await carryOut(attack, { ground, profile, random, forMs: 60_000 })
      assert.deepEqual(report.findings, [])
      assert.notDeepEqual(report.counts, {})
      if (attack === decoding) decoded = report.counts.inputs
    })
  }

  test('the same seed makes the same inputs, another seed others', async () => {
    const inputs = async (seed: string) => {
      const random = new Random(seed)
      const report = await carryOut(decoding, { ground, profile, random, forMs: 60_000 })
      return report.counts.inputs
    }
    // The attack above had this seed.
    assert.equal(await inputs(`1 ${decoding.name}`), decoded)
    assert.notEqual(await inputs('2'), decoded)
  })
})

describe('detection of flaws by the attacks', () => {
  const good = {
    id: '0'.repeat(32),
    result: { code: '000.000.100', description: 'x' },
    buildNumber: 'b',
    timestamp: 't',
    ndc: 'n',
  }
  const answer = (
    body: unknown,
    status = 200,
    type = 'application/json;charset=UTF-8',
  ): Answer => ({
    status,
    headers: new Map([['content-type', type]]),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

  test('an answer is flawed if it is missing, a fault, of another shape, or reveals internals', () => {
    assert.equal(wrongWith(answer(good)), undefined)
    assert.equal(wrongWith(answer(good, 0)), 'no answer came')
    for (const status of [500, 502, 503, 302, 417]) {
      assert.equal(wrongWith(answer(good, status)), `status ${status}`)
    }
    assert.match(wrongWith(answer(good, 400, 'text/html')) ?? '', /media type/)
    assert.equal(wrongWith(answer('<html>')), 'the body is not JSON')
    assert.equal(wrongWith(answer({ ...good, result: { code: '1.2.3' } })), 'no result.code')
    for (const name of ['result', 'buildNumber', 'timestamp', 'ndc'] as const) {
      assert.equal(wrongWith(answer({ ...good, [name]: undefined })), `no ${name}`)
    }
    for (const inside of [
      'TypeError: x is not a function',
      'at run (file:///srv/core/send.ts:12:3)',
      'duplicate key value violates unique constraint',
      'connect ECONNREFUSED',
    ]) {
      const told = { ...good, result: { ...good.result, description: inside } }
      assert.equal(wrongWith(answer(told)), 'the answer reveals internals')
    }
  })

  test('two answers that should be alike are flawed by another word, status or header', () => {
    const id = 'a'.repeat(32)
    const one = answer({ ...good, ndc: 'b'.repeat(32) }, 404)
    assert.equal(shapeOf(one, id), shapeOf(answer({ ...good, ndc: 'c'.repeat(32) }, 404), id))
    assert.notEqual(shapeOf(one, id), shapeOf({ ...one, status: 403 }, id))
    assert.notEqual(shapeOf(one, id), shapeOf({ ...one, body: `${one.body} ` }, id))
    const headers = new Map([...one.headers, ['x-found', '1']])
    assert.notEqual(shapeOf(one, id), shapeOf({ ...one, headers }, id))
  })

  test('the log is flawed by malformed lines, control characters, forbidden texts and faults', () => {
    const log = new HostLog()
    log.forbid(['SECRET'])
    log.add('{"msg":"request"}\n{"msg":"req')
    log.add('uest"}\n')
    assert.deepEqual([log.lines, log.requests, log.wrong], [2, 2, []])
    const broken = [
      'no JSON',
      '[2J{}',
      '"text"',
      '{"a":"SECRET"}',
      '{"a":"\u2028"}',
      '{"a":"\u001b"}',
    ]
    for (const line of broken) log.add(`${line}\n`)
    assert.deepEqual([...new Set(log.wrong)], broken)
    log.add('{"msg":"a request failed through a fault of the gateway"}\n')
    assert.equal(log.faults.length, 1)
  })

  test('a timing difference is detected, and none is reported without one', () => {
    const random = new Random(1)
    const times = (shift: number) => Array.from({ length: 300 }, () => random.below(1000) + shift)
    assert.ok(mannWhitney(times(0), times(0)).p > 0.01)
    assert.ok(mannWhitney(times(200), times(0)).p < 0.000_1)
  })

  test('a report is bounded and shows neither tokens nor control characters', () => {
    const shown = redacted(`Authorization: Bearer abc-DEF_123\r\n\u001b[31m${'x'.repeat(5000)}`)
    assert.doesNotMatch(shown, /abc-DEF|\u001b/)
    assert.match(shown, /Bearer <token>/)
    assert.ok(shown.length < 700)
  })

  test('the command refuses unknown arguments', async () => {
    const main = await bundled('test/attacks/main.ts')
    const run = (...words: string[]) =>
      spawnSync(process.execPath, [main, ...words], { encoding: 'utf8' })
    const unknown = run('--only', 'nonsense')
    assert.equal(unknown.status, 2)
    assert.match(unknown.stderr, /no attack "nonsense", only fuzz, /)
    assert.match(run('--help').stdout, /--seed 1/)
  })
})
