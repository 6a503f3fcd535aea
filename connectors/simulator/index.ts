import { contractVersion, definePlugin, type Plugin } from '@tollgate/plugin-kit'
import { createAuthenticator } from './authentication/in-process.ts'
import { createSimulator } from './in-process.ts'
import type { Ledger } from './ledger.ts'

export { createAuthenticator } from './authentication/in-process.ts'
export { createSimulator, type Dispute, type InProcessSimulator } from './in-process.ts'
export {
  type Decision,
  type Effect,
  precedence,
  type Rule,
  rules,
  type Sign,
} from './rules.ts'
export { judge, type Signs, type Verdict } from './verdict.ts'

/**
 * The connector `simulator` and the authenticator `simulator-3ds`: testMode=INTERNAL inside the process.
 *
 * @param ledger its books; a bounded one of its own by default
 */
export function createSimulatorPlugin(ledger?: Ledger): Plugin {
  const simulator = createSimulator(ledger)
  return definePlugin({
    name: 'simulator',
    contract: contractVersion,
    connectors: [simulator],
    authenticators: [createAuthenticator()],
    pages: simulator.pages,
  })
}

export default createSimulatorPlugin()
