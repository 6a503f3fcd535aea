/**
 * The contracts of connectors, their settlement files, authenticators and wallets as tests. They run with Node's own
 * runner, on this machine alone:
 *
 * ```ts
 * import { authenticatorContract, connectorContract, settlementContract, walletContract } from '@tollgate/plugin-kit/testing'
 * connectorContract(acme, sandbox)
 * settlementContract(acme, sandboxOfFiles)
 * authenticatorContract(acme3ds, sandboxOfIssuer)
 * walletContract(acmePay, sandboxOfWallet)
 * ```
 */
import { describe, test } from 'node:test'
import type { Authenticator } from '../authenticator.ts'
import type { Connector } from '../connector.ts'
import type { Wallet } from '../wallet.ts'
import {
  type AuthenticatorContractOptions,
  authenticatorCases,
  authenticatorParts,
} from './authenticator/contract.ts'
import type { AuthenticatorSandbox } from './authenticator/sandbox.ts'
import {
  type ContractCase,
  type ContractOptions,
  contractCases,
  type NotSupported,
  parts,
} from './contract.ts'
import type { Sandbox } from './sandbox.ts'
import {
  type SettlementContractOptions,
  settlementCases,
  settlementParts,
} from './settlement/contract.ts'
import type { SettlementSandbox } from './settlement/sandbox.ts'
import { walletParts } from './wallet/cases.ts'
import { walletCases } from './wallet/contract.ts'
import type { WalletSandbox } from './wallet/sandbox.ts'

export {
  type AuthenticatorContractOptions,
  authenticatorCases,
  runAuthenticatorContract,
} from './authenticator/contract.ts'
export type {
  AuthenticationScene,
  AuthenticationServer,
  AuthenticatorSandbox,
  Deed,
  ExpectedAuthentication,
} from './authenticator/sandbox.ts'
export {
  type ContractCase,
  type ContractOptions,
  type ContractReport,
  contractCases,
  type NotSupported,
  runContract,
} from './contract.ts'
export type {
  Acquirer,
  Booking,
  Brought,
  EngineSide,
  Message,
  Received,
  Sandbox,
  Scene,
} from './sandbox.ts'
export {
  runSettlementContract,
  type SettlementContractOptions,
  settlementCases,
} from './settlement/contract.ts'
export type { SamplePayment, SettlementSandbox, SettlementServer } from './settlement/sandbox.ts'
export { runWalletContract, walletCases } from './wallet/contract.ts'
export type { TokenFlaw, TokenScene, WalletSandbox } from './wallet/sandbox.ts'

/**
 * Registers one test for each applicable case of the connector. Unsupported cases are printed as a
 * diagnostic of the first test: neither hidden nor counted.
 */
export function connectorContract(
  connector: Connector,
  sandbox: Sandbox,
  options: ContractOptions = {},
): void {
  register(connector.name, Object.keys(parts), contractCases(connector, sandbox, options))
}

/** The same for an authenticator. */
export function authenticatorContract(
  authenticator: Authenticator,
  sandbox: AuthenticatorSandbox,
  options: AuthenticatorContractOptions = {},
): void {
  const found = authenticatorCases(authenticator, sandbox, options)
  register(authenticator.name, Object.keys(authenticatorParts), found)
}

/** The same for the settlement files of a connector. */
export function settlementContract(
  connector: Connector,
  sandbox: SettlementSandbox,
  options: SettlementContractOptions = {},
): void {
  const found = settlementCases(connector, sandbox, options)
  register(`the settlement files of ${connector.name}`, Object.keys(settlementParts), found)
}

/** The same for a wallet. */
export function walletContract(wallet: Wallet, sandbox: WalletSandbox): void {
  register(wallet.name, Object.keys(walletParts), walletCases(wallet, sandbox))
}

function register(
  name: string,
  parts: readonly string[],
  {
    cases,
    notSupported,
  }: { cases: readonly ContractCase[]; notSupported: readonly NotSupported[] },
): void {
  describe(`the contract of ${name}`, () => {
    for (const part of parts) {
      const own = cases.filter((known) => known.part === part)
      if (own.length === 0) continue
      describe(part, () => {
        for (const { name, run } of own) {
          test(name, async (context) => {
            if (name === cases[0]?.name) {
              for (const line of summaryOf(notSupported)) context.diagnostic(line)
            }
            await run()
          })
        }
      })
    }
  })
}

/** One line for each reason, so that unsupported features stay visible. */
function summaryOf(notSupported: readonly NotSupported[]): readonly string[] {
  const reasons = new Set(notSupported.map(({ why }) => why))
  return [...reasons].map((why) => {
    const names = notSupported.filter((missing) => missing.why === why).map(({ name }) => name)
    return `not supported, because ${why}: ${names.join('; ')}`
  })
}
