/** Honest connectors of other acquirers pass: captures at the end of the day, and access tokens. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Connector, pending } from '@tollgate/plugin-kit'
import { runContract } from '@tollgate/plugin-kit/testing'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { queueingSandbox, sandbox } from '../../../connectors/acquirer-json/sandbox/sandbox.ts'
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
