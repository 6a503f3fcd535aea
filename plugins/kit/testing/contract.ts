import type { Connector } from '../connector.ts'
import type { Case, Size } from './case.ts'
import { answers } from './cases/answers.ts'
import { completion } from './cases/completion.ts'
import { currencies } from './cases/currencies.ts'
import { events } from './cases/events.ts'
import { facts } from './cases/facts.ts'
import { firstRequests } from './cases/first-requests.ts'
import { followUps } from './cases/follow-ups.ts'
import { keys } from './cases/keys.ts'
import { line } from './cases/line.ts'
import { load } from './cases/load.ts'
import { mixUps } from './cases/mix-ups.ts'
import { news } from './cases/news.ts'
import { outcomes } from './cases/outcomes.ts'
import { resolve } from './cases/resolve.ts'
import { reversals } from './cases/reversals.ts'
import { secrets } from './cases/secrets.ts'
import { statusCases } from './cases/statuses.ts'
import { tokens } from './cases/tokens.ts'
import { hangMs, type StageOptions } from './environment.ts'
import { openStage } from './harness.ts'
import type { Sandbox } from './sandbox.ts'

/** The contract, part by part. A new part is one file of cases and one line here. */
export const parts: Readonly<Record<string, readonly Case[]>> = {
  facts,
  outcomes,
  'answers in other words': answers,
  'follow-ups': followUps,
  'amounts in currencies without decimals and with three': currencies,
  'keys and moving money': keys,
  'the line': [...line, ...statusCases],
  'requests before the one that moves money': firstRequests,
  'enquiry and reversal by key': resolve,
  'reversals that are only requested': reversals,
  'access tokens': tokens,
  'the shopper comes back': completion,
  'answers about other keys': mixUps,
  events,
  'further messages': news,
  secrets,
  load,
}

export type ContractOptions = {
  /** Simultaneous payments in the case under load. Default 500. */
  readonly parallel?: number
  /** Time for an unhindered handler. Default a minute. */
  readonly patienceMs?: number
  /** Time for a handler to end after its deadline. Default a minute. */
  readonly graceMs?: number
}

/** A case that applies to a connector, ready to run. */
export type ContractCase = {
  readonly part: string
  readonly name: string
  /** Starts the acquirer, runs the case, closes. Rejects when the rule is broken. */
  run(): Promise<void>
}

export type NotSupported = {
  readonly part: string
  readonly name: string
  readonly why: string
}

/** The applicable cases of a connector, and the others with their reasons. */
export function contractCases(
  connector: Connector,
  sandbox: Sandbox,
  { parallel = 500, patienceMs = hangMs, graceMs = hangMs }: ContractOptions = {},
): { readonly cases: readonly ContractCase[]; readonly notSupported: readonly NotSupported[] } {
  const cases: ContractCase[] = []
  const notSupported: NotSupported[] = []
  for (const [part, rows] of Object.entries(parts)) {
    for (const row of rows) {
      const { name } = row
      const why = row.without?.(connector, sandbox)
      if (why !== undefined) notSupported.push({ part, name, why })
      else
        cases.push({
          part,
          name,
          run: () => play(row, connector, sandbox, { patienceMs, graceMs }, { parallel }),
        })
    }
  }
  return { cases, notSupported }
}

async function play(
  row: Case,
  connector: Connector,
  sandbox: Sandbox,
  options: StageOptions,
  size: Size,
): Promise<void> {
  const stage = await openStage(connector, sandbox, options)
  try {
    await row.run(stage, size)
  } finally {
    await stage.close()
  }
}

export type ContractReport = {
  readonly passed: readonly string[]
  readonly failed: readonly { readonly name: string; readonly error: Error }[]
  readonly notSupported: readonly NotSupported[]
}

/** Runs all cases in sequence without a test runner. */
export function runContract(
  connector: Connector,
  sandbox: Sandbox,
  options: ContractOptions = {},
): Promise<ContractReport> {
  return runCases(contractCases(connector, sandbox, options))
}

export async function runCases({
  cases,
  notSupported,
}: ReturnType<typeof contractCases>): Promise<ContractReport> {
  const passed: string[] = []
  const failed: { name: string; error: Error }[] = []
  for (const { name, run } of cases) {
    try {
      await run()
      passed.push(name)
    } catch (error) {
      failed.push({ name, error: error instanceof Error ? error : new Error(String(error)) })
    }
  }
  return { passed, failed, notSupported }
}
