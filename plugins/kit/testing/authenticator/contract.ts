import type { Authenticator } from '../../authenticator.ts'
import type { ContractCase, ContractReport, NotSupported } from '../contract.ts'
import { runCases } from '../contract.ts'
import { hangMs, type StageOptions } from '../environment.ts'
import type { AuthenticatorCase } from './case.ts'
import { enquiry } from './cases/enquiry.ts'
import { events } from './cases/events.ts'
import { facts } from './cases/facts.ts'
import { line } from './cases/line.ts'
import { outcomes } from './cases/outcomes.ts'
import { secrets } from './cases/secrets.ts'
import { shopper } from './cases/shopper.ts'
import { tokens } from './cases/tokens.ts'
import { openAuthenticatorStage } from './harness.ts'
import type { AuthenticatorSandbox } from './sandbox.ts'

/** The contract of authenticators, part by part. */
export const authenticatorParts: Readonly<Record<string, readonly AuthenticatorCase[]>> = {
  facts,
  outcomes,
  'enquiry after an authentication': enquiry,
  'the line to the server': line,
  'access tokens': tokens,
  'the shopper at the issuer': shopper,
  'events of the server': events,
  secrets,
}

export type AuthenticatorContractOptions = Partial<StageOptions>

/** The applicable cases of an authenticator, and the others with their reasons. */
export function authenticatorCases(
  authenticator: Authenticator,
  sandbox: AuthenticatorSandbox,
  { patienceMs = hangMs, graceMs = hangMs }: AuthenticatorContractOptions = {},
): { readonly cases: readonly ContractCase[]; readonly notSupported: readonly NotSupported[] } {
  const rows = Object.entries(authenticatorParts).flatMap(([part, all]) =>
    all.map((row) => ({ part, row, why: row.without?.(authenticator, sandbox) })),
  )
  return {
    cases: rows
      .filter(({ why }) => why === undefined)
      .map(({ part, row }) => ({
        part,
        name: row.name,
        run: () => play(row, authenticator, sandbox, { patienceMs, graceMs }),
      })),
    notSupported: rows.flatMap(({ part, row: { name }, why }) =>
      why === undefined ? [] : [{ part, name, why }],
    ),
  }
}

async function play(
  row: AuthenticatorCase,
  authenticator: Authenticator,
  sandbox: AuthenticatorSandbox,
  options: StageOptions,
): Promise<void> {
  const stage = await openAuthenticatorStage(authenticator, sandbox, options)
  try {
    await row.run(stage)
  } finally {
    await stage.close()
  }
}

/** Runs all cases in sequence without a test runner. */
export function runAuthenticatorContract(
  authenticator: Authenticator,
  sandbox: AuthenticatorSandbox,
  options: AuthenticatorContractOptions = {},
): Promise<ContractReport> {
  return runCases(authenticatorCases(authenticator, sandbox, options))
}
