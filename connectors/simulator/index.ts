import { contractVersion, definePlugin } from '@tollgate/plugin-kit'
import { createSimulator } from './in-process.ts'

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

/** The connector `simulator`: answers testMode=INTERNAL inside the process. */
export default definePlugin({
  name: 'simulator',
  contract: contractVersion,
  connectors: [createSimulator()],
})
