/** Payments in two requests, of which the first is harmless: the suite takes a right connector, and notices wrong ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declined, readJson, unknown } from '@tollgate/plugin-kit'
import { contractCases, runContract } from '@tollgate/plugin-kit/testing'
import { draftsConnector, draftsSandbox } from './drafts-acquirer.ts'
import { failing } from './noticed.ts'

const harmless =
  'a fault of a request before the one that moves money moves nothing, and ends nothing'

test('a connector that makes a draft, records it and confirms it passes', async () => {
  const { failed, passed } = await runContract(draftsConnector(), draftsSandbox, { parallel: 20 })
  assert.deepEqual(
    failed.map(({ name, error }) => `${name}: ${error.message}`),
    [],
  )
  assert.ok(passed.includes(harmless))
})

const mistakes = {
  'declines the card when it gets no draft': { failed: declined('800.100.152') },
  'records what it could not read': {
    draftIn: ({ body }: { body: Buffer }) => {
      try {
        return String((readJson(body) as { draft?: string }).draft)
      } catch {
        return 'none'
      }
    },
  },
} as const
for (const [what, habits] of Object.entries(mistakes)) {
  test(`the suite notices a connector that ${what}`, async () => {
    const cases = contractCases(draftsConnector(habits), draftsSandbox)
    assert.deepEqual(await failing(cases, [harmless]), [harmless])
  })
}

test('a connector that leaves the outcome unknown without a draft is right as well', async () => {
  const connector = draftsConnector({ failed: unknown('there is no draft') })
  assert.deepEqual(await failing(contractCases(connector, draftsSandbox), [harmless]), [])
})
