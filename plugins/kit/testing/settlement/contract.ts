import assert from 'node:assert/strict'
import type { Connector } from '../../connector.ts'
import type { ContractCase, ContractReport, NotSupported } from '../contract.ts'
import { runCases } from '../contract.ts'
import { hangMs, type StageOptions } from '../environment.ts'
import type { SettlementCase } from './case.ts'
import { completeness } from './cases/completeness.ts'
import { fetching } from './cases/fetching.ts'
import { lineEnds } from './cases/line-ends.ts'
import { purity } from './cases/purity.ts'
import { simulatedDays } from './cases/simulated-days.ts'
import { values } from './cases/values.ts'
import { openSettlementStage } from './harness.ts'
import type { SettlementSandbox } from './sandbox.ts'

/** The contract of settlement files, part by part. */
export const settlementParts: Readonly<Record<string, readonly SettlementCase[]>> = {
  'reading a file': purity,
  'files saved by other programs': lineEnds,
  'values of records': values,
  'files that are not complete': completeness,
  'fetching files': fetching,
  'writing simulated days': simulatedDays,
}

export type SettlementContractOptions = Partial<StageOptions>

/** The applicable cases of a connector's settlement, and the others with their reasons. */
export function settlementCases(
  connector: Connector,
  sandbox: SettlementSandbox,
  { patienceMs = hangMs, graceMs = hangMs }: SettlementContractOptions = {},
): { readonly cases: readonly ContractCase[]; readonly notSupported: readonly NotSupported[] } {
  const { settlement } = connector
  assert.ok(settlement, `${connector.name} has no settlement`)
  const rows = Object.entries(settlementParts).flatMap(([part, all]) =>
    all.map((row) => ({ part, row, why: row.without?.(settlement, sandbox) })),
  )
  const play = async (row: SettlementCase) => {
    const stage = openSettlementStage(connector, settlement, sandbox, { patienceMs, graceMs })
    try {
      await row.run(stage)
    } finally {
      await stage.close()
    }
  }
  return {
    cases: rows
      .filter(({ why }) => why === undefined)
      .map(({ part, row }) => ({ part, name: row.name, run: () => play(row) })),
    notSupported: rows.flatMap(({ part, row: { name }, why }) =>
      why === undefined ? [] : [{ part, name, why }],
    ),
  }
}

/** Runs all cases in sequence without a test runner. */
export function runSettlementContract(
  connector: Connector,
  sandbox: SettlementSandbox,
  options: SettlementContractOptions = {},
): Promise<ContractReport> {
  return runCases(settlementCases(connector, sandbox, options))
}
