import { contractVersion, definePlugin } from '@tollgate/plugin-kit'
import { createAuthenticator } from './authentication/in-process.ts'
import { createSimulator } from './in-process.ts'

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

const simulator = createSimulator()

/** The connector `simulator` and the authenticator `simulator-3ds`: testMode=INTERNAL inside the process. */
export default definePlugin({
  name: 'simulator',
  contract: contractVersion,
  connectors: [simulator],
  authenticators: [createAuthenticator()],
  pages: simulator.pages,
})
