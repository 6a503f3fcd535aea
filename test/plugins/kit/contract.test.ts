/** A connector's abilities decide its cases; unsupported ones are printed, not hidden. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import {
  type Acquirer,
  contractCases,
  runContract,
  type Sandbox,
} from '@tollgate/plugin-kit/testing'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { sandbox } from '../../../connectors/acquirer-json/sandbox/sandbox.ts'
import { partialConnector, partialSandbox } from './partial-connector.ts'

const run = promisify(execFile)
const quick = { parallel: 5, graceMs: 200 }

test('a minimal connector passes the cases that apply to it', async () => {
  const { passed, failed, notSupported } = await runContract(
    partialConnector,
    partialSandbox,
    quick,
  )
  assert.deepEqual(failed, [])
  const why = (name: string) => notSupported.find((missing) => missing.name === name)?.why
  assert.equal(why('a payment is refunded in full and in part'), 'the connector has no refund')
  assert.equal(
    why('a reversal by key undoes an operation for good'),
    'the connector has no resolve.reverseByKey',
  )
  assert.equal(why('a forged event is not proven'), 'the connector has no inbound')
  const example = contractCases(acquirerJson, sandbox)
  const all = example.cases.length + example.notSupported.length
  assert.equal(
    passed.length + notSupported.length,
    all,
    'every case passes, fails or is reported as unsupported',
  )
})

test("the suite prints unsupported features of an author's connector", async () => {
  const file = join(import.meta.dirname, 'partial-connector.ts')
  // The inner test must not report to the outer one.
  const { NODE_TEST_CONTEXT: _outer, ...env } = process.env
  const choices = ['--conditions=@tollgate/source', '--test-reporter=spec', file]
  const { stdout } = await run(process.execPath, choices, { env })
  assert.match(stdout, /✔ a request is sent once, because the engine decides about retries/)
  assert.match(stdout, /not supported, because the connector has no refund: a payment is refunded/)
  assert.match(stdout, /not supported, because the connector has no complete: /)
  assert.match(stdout, /fail 0\n/)
})

test('an acquirer that tells nothing about open or declined payments needs no such events', () => {
  const silent: Sandbox = { ...sandbox, tellsOpen: false, tellsDeclines: false }
  const names = new Set(contractCases(acquirerJson, silent).notSupported.map(({ name }) => name))
  assert.ok(names.has('several events about one payment have ids of their own, in any order'))
  assert.ok(names.has('an event about a declined payment claims the decline'))
})

/** The example's sandbox without a part that its connector needs. */
const without = (parts: Partial<Record<keyof Sandbox, undefined>>): Sandbox =>
  ({ ...sandbox, ...parts }) as Sandbox

const withoutPart = (part: keyof Acquirer): Sandbox => ({
  ...sandbox,
  async open(engine) {
    const { [part]: _left, ...rest } = await sandbox.open(engine)
    return rest as Acquirer
  },
})

const incomplete: readonly (readonly [string, Sandbox, RegExp])[] = [
  ['a redirect scene', without({ redirect: undefined }), /so the sandbox needs a redirect scene/],
  ['changed answers', without({ answers: undefined }), /an acquirer with a url has answers/],
  [
    'a scene of a method',
    { ...sandbox, approved: sandbox.approved.slice(0, 1) },
    /a scene for the method bankAccount/,
  ],
  ['events', withoutPart('event'), /must answer with event/],
  ['a shopper', withoutPart('shopper'), /needs shopper/],
  ['an end', withoutPart('finish'), /needs finish/],
  ['a wrong account', withoutPart('wrongAccount'), /wrongAccount/],
]

describe('incomplete sandboxes', () => {
  for (const [what, lacking, says] of incomplete) {
    test(`a sandbox without ${what} fails the suite`, async () => {
      const messages: string[] = []
      for (const { run } of contractCases(acquirerJson, lacking, quick).cases) {
        const message = await run().then(
          () => undefined,
          (error) => (error instanceof Error ? error.message : String(error)),
        )
        if (message !== undefined) messages.push(message)
        if (message !== undefined && says.test(message)) return
      }
      assert.fail(`no case says ${says}:\n${messages.join('\n')}`)
    })
  }
})
