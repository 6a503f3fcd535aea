/** The example connector keeps the contract it demonstrates. */
import { connectorContract } from '@tollgate/plugin-kit/testing'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { sandbox } from '../../../connectors/acquirer-json/sandbox/sandbox.ts'

// Other tests may keep the processors busy.
connectorContract(acquirerJson, sandbox, { patienceMs: 40_000 })
