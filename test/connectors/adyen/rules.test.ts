/** Every rule of the connector to Adyen holds, and its mistakes are noticed: one of each rule, and all in a long run. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contractCases } from '@tollgate/plugin-kit/testing'
import { adyen } from '../../../connectors/adyen/index.ts'
import { sandbox } from '../../../connectors/adyen/sandbox/sandbox.ts'
import { sampled } from '../../rig/scope.ts'
import { contractMistakes } from './contract-mistakes.ts'
import { mutant } from './mutants.ts'
import { answerRules } from './rules/answers.ts'
import { elsewhereRules } from './rules/elsewhere.ts'
import { eventProofRules } from './rules/event-proof.ts'
import { eventRoundRules } from './rules/event-rounds.ts'
import { eventRules } from './rules/events.ts'
import { reportRules } from './rules/reports.ts'
import { requestRules } from './rules/requests.ts'
import { severalPaymentsRules } from './rules/several-payments.ts'
import { undoRules } from './rules/undo.ts'
import { undoEndRules } from './rules/undo-ends.ts'
import { undoNameRules } from './rules/undo-names.ts'
import { undoOrderRules } from './rules/undo-order.ts'
import { obey } from './scene.ts'

const rules = [
  ...answerRules,
  ...requestRules,
  ...eventRules,
  ...eventRoundRules,
  ...eventProofRules,
  ...undoRules,
  ...undoNameRules,
  ...undoOrderRules,
  ...undoEndRules,
  ...severalPaymentsRules,
  ...elsewhereRules,
  ...reportRules,
]

const shown = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 90)

for (const { rule, run, mistakes } of rules) {
  describe(rule, () => {
    test('holds', () => obey(run, adyen))

    for (const patch of sampled(mistakes, 1)) {
      test(`is broken by "${shown(patch.put)}" for "${shown(patch.find)}" in ${patch.file}.ts`, async () => {
        const wrong = await mutant(patch)
        await assert.rejects(obey(run, wrong), 'the rule does not notice the mistake')
      })
    }
  })
}

describe('the contract suite and mistakes with Adyen', () => {
  for (const { patch, noticed } of sampled(contractMistakes, 5)) {
    test(`notices "${shown(patch.put)}" for "${shown(patch.find)}" in ${patch.file}.ts`, async () => {
      const { cases } = contractCases(await mutant(patch), sandbox, { parallel: 5, graceMs: 200 })
      const found = cases.find(({ name }) => name === noticed)
      assert.ok(found, `there is a case "${noticed}"`)
      await assert.rejects(found.run())
    })
  }
})

test('there are many mistakes', () => {
  assert.ok(rules.length >= 40, String(rules.length))
  assert.ok(rules.flatMap(({ mistakes }) => mistakes).length >= 200)
})
