/** Both transports of the simulator keep the contract. */
import { connectorContract } from '@tollgate/plugin-kit/testing'
import { simulatorHttp } from '../../../connectors/simulator/http-connector.ts'
import { simulatorInProcess, simulatorOverHttp } from './simulator-sandbox.ts'

const { connector, sandbox } = simulatorInProcess()
// Other tests may keep the processors busy.
const patient = { patienceMs: 40_000 }
connectorContract(connector, sandbox, patient)
connectorContract(simulatorHttp, simulatorOverHttp, patient)
