/** Honest connectors of other acquirers pass: captures at the end of the day, and access tokens. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Connector, pending } from '@tollgate/plugin-kit'
import { contractCases, runContract } from '@tollgate/plugin-kit/testing'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { queueingSandbox, sandbox } from '../../../connectors/acquirer-json/sandbox/sandbox.ts'
import { failing } from './noticed.ts'
import { repeating } from './wrong-connectors/keys.ts'
import { withTokens } from './wrong-connectors/tokens.ts'

const { inbound: _none, ...polling } = acquirerJson
const event = (handler: NonNullable<Connector['capture']>): NonNullable<Connector['capture']> => {
  return async (operation, context) => {
    const outcome = await handler(operation, context)
    const { refs = {} } = outcome as { refs?: Record<string, string> }
    return outcome.is === 'pending' ? pending('event', { refs }) : outcome
  }
}
const listening: Connector = {
  ...acquirerJson,
  capture: event(acquirerJson.capture!),
  refund: event(acquirerJson.refund!),
}

const honest = {
  'whose captures end later, as an enquiry tells': [acquirerJson, queueingSandbox],
  'whose captures end later, without any events': [polling, queueingSandbox],
  'whose captures end later, as an event tells': [listening, queueingSandbox],
  'with access tokens': [withTokens(), sandbox],
} as const

for (const [what, [connector, acquirer]] of Object.entries(honest)) {
  test(`a connector ${what} passes the suite`, async () => {
    const { failed } = await runContract(connector, acquirer, { parallel: 20 })
    assert.deepEqual(
      failed.map(({ name, error }) => `${name}: ${error.message}`),
      [],
    )
  })
}

test('a kind without keys is sent under others, and the suite leaves it out', async () => {
  const once = 'one key has one effect, however often it is sent'
  const connector = repeating('refund')
  assert.deepEqual(await failing(contractCases(connector, sandbox), [once]), [once])
  const none: Connector['supports']['key'] = (kind) =>
    kind === 'refund' ? { by: 'none' } : { by: 'key', ttlMs: 86_400_000 }
  const honest = { ...connector, supports: { ...connector.supports, key: none } }
  assert.deepEqual(await failing(contractCases(honest, sandbox), [once]), [])
})
