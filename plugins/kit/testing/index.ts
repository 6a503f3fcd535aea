/**
 * The contract of a connector as tests. They run with Node's own runner, on this machine alone:
 *
 * ```ts
 * import { connectorContract } from '@tollgate/plugin-kit/testing'
 * connectorContract(acme, sandbox)
 * ```
 */
import { describe, test } from 'node:test'
import type { Connector } from '../connector.ts'
import { type ContractOptions, contractCases, type NotSupported, parts } from './contract.ts'
import type { Sandbox } from './sandbox.ts'

export {
  type ContractCase,
  type ContractOptions,
  type ContractReport,
  contractCases,
  type NotSupported,
  runContract,
} from './contract.ts'
export type { Acquirer, Booking, EngineSide, Sandbox, Scene } from './sandbox.ts'

/**
 * Registers one test for each applicable case of the connector. Unsupported cases are printed as a
 * diagnostic of the first test: neither hidden nor counted.
 */
export function connectorContract(
  connector: Connector,
  sandbox: Sandbox,
  options: ContractOptions = {},
): void {
  const { cases, notSupported } = contractCases(connector, sandbox, options)
  describe(`the contract of ${connector.name}`, () => {
    for (const part of Object.keys(parts)) {
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
