import type { Wallet } from '../../wallet.ts'
import { type ContractCase, type ContractReport, type NotSupported, runCases } from '../contract.ts'
import { walletParts } from './cases.ts'
import type { WalletSandbox } from './sandbox.ts'
import { WalletStage } from './stage.ts'

/** The applicable cases of a wallet, and the others with their reasons. */
export function walletCases(
  wallet: Wallet,
  sandbox: WalletSandbox,
): { readonly cases: readonly ContractCase[]; readonly notSupported: readonly NotSupported[] } {
  const rows = Object.entries(walletParts).flatMap(([part, all]) =>
    all.map((row) => ({ part, row, why: row.without?.(wallet, sandbox) })),
  )
  return {
    cases: rows
      .filter(({ why }) => why === undefined)
      .map(({ part, row: { name, run } }) => ({
        part,
        name,
        run: async () => run(new WalletStage(wallet, sandbox)),
      })),
    notSupported: rows.flatMap(({ part, row: { name }, why }) =>
      why === undefined ? [] : [{ part, name, why }],
    ),
  }
}

/** Runs all cases in sequence without a test runner. */
export function runWalletContract(wallet: Wallet, sandbox: WalletSandbox): Promise<ContractReport> {
  return runCases(walletCases(wallet, sandbox))
}
