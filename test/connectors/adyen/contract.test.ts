/** The connector to Adyen keeps the contract, and so do its settlement reports. */
import { connectorContract, settlementContract } from '@tollgate/plugin-kit/testing'
import { adyen } from '../../../connectors/adyen/index.ts'
import { sandbox } from '../../../connectors/adyen/sandbox/sandbox.ts'
import { reports } from './reports.ts'

// Other tests may keep the processors busy.
connectorContract(adyen, sandbox, { patienceMs: 40_000 })
settlementContract(adyen, reports, { patienceMs: 40_000 })
