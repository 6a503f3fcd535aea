/**
 * Nothing is lost and nothing is doubled: the merchants' answers, the acquirer's books and the
 * engine's tables agree. Each rule names its violations.
 */
import assert from 'node:assert/strict'
import { answersAgree, answersHaveRows, oneAnswer, onePayment } from './check-answers.ts'
import { ledgerAgrees, moneyHasRow, moneyOnce, nothingAskedTwice } from './check-money.ts'
import {
  booksAgree,
  eventsAreComplete,
  nothingForgotten,
  nothingReserved,
  sumsHold,
} from './check-rows.ts'
import type { Evidence } from './evidence.ts'

export type Rule = (evidence: Evidence) => readonly string[]

export const rules: Readonly<Record<string, Rule>> = {
  'money moves at most once for a key': moneyOnce,
  'money that moved has its payment': moneyHasRow,
  'the acquirer never had to refuse what our own sums forbid': nothingAskedTwice,
  'ledger and payments agree': ledgerAgrees,
  'a key makes one payment': onePayment,
  'whoever was told approved or pending finds the payment': answersHaveRows,
  'answers agree with the final state, or said pending': answersAgree,
  'all answers to a key are about one payment': oneAnswer,
  'captures, reversals and refunds stay within what they refer to': sumsHold,
  'balances say what their payments add up to': booksAgree,
  'nothing is reserved when all is quiet': nothingReserved,
  'what stays undecided is on the operators’ list': nothingForgotten,
  'every move has its event': eventsAreComplete,
}

/** Every violation of every rule. */
export function violations(evidence: Evidence): string[] {
  return Object.entries(rules).flatMap(([name, rule]) =>
    rule(evidence).map((violation) => `${name}: ${violation}`),
  )
}

/** @throws AssertionError listing the violations. */
export function checkAll(evidence: Evidence): void {
  assert.deepEqual(violations(evidence), [])
}

/** Checks some rules at a moment with operations under way. */
export function check(evidence: Evidence, ...names: readonly (keyof typeof rules)[]): void {
  assert.deepEqual(
    names.flatMap((name) => rules[name]!(evidence)),
    [],
  )
}
