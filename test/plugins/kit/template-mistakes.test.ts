/** What Example Bank does not have: events of partial approvals, and settlement files. The template has both. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approved, type Claim, type Connector, unknown } from '@tollgate/plugin-kit'
import { contractCases } from '@tollgate/plugin-kit/testing'
import { sandbox } from '../../../plugins/create-connector/template/sandbox/sandbox.ts'
import { acmeBank } from '../../../plugins/create-connector/template/src/index.ts'
import { failing } from './noticed.ts'

const part = 'an event of a partial approval claims the part'

const claiming = (change: (claim: Claim) => Claim): Connector => ({
  ...acmeBank,
  inbound: {
    ...acmeBank.inbound!,
    async parse(message, context) {
      return (await acmeBank.inbound!.parse(message, context)).map(change)
    },
  },
})

const mistakes: Readonly<Record<string, (claim: Claim) => Claim>> = {
  'takes its own amount for the one that was asked for': (claim) => ({
    ...claim,
    outcome: unknown('approved in part, with the whole amount'),
  }),
  'takes it for an approval of the whole': ({ outcome, ...claim }) => ({
    ...claim,
    amount: { minor: 9200n, currency: 'EUR' },
    outcome: outcome.is === 'approved' ? approved(outcome.refs) : outcome,
  }),
}

test('the suite notices a connector whose files call payments by a reference that outcomes lack', async () => {
  const references = 'settlement files call payments by references that outcomes have'
  assert.deepEqual(await failing(contractCases(acmeBank, sandbox), [references]), [])
  const wrong = { ...acmeBank, settlement: { ...acmeBank.settlement!, refs: ['id', 'rrn'] } }
  assert.deepEqual(await failing(contractCases(wrong, sandbox), [references]), [references])
})

test('the right connector claims the part', async () => {
  assert.deepEqual(await failing(contractCases(acmeBank, sandbox), [part]), [])
})

for (const [what, change] of Object.entries(mistakes)) {
  test(`the suite notices a connector that ${what}`, async () => {
    assert.deepEqual(await failing(contractCases(claiming(change), sandbox), [part]), [part])
  })
}
