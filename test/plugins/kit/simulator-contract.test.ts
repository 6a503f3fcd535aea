/** Both transports of the simulator keep the contract. */
import { connectorContract } from '@tollgate/plugin-kit/testing'
import { simulatorHttp } from '../../../connectors/simulator/http-connector.ts'
import { simulatorInProcess, simulatorOverHttp } from './simulator-sandbox.ts'

const { connector, sandbox } = simulatorInProcess()
connectorContract(connector, sandbox)
connectorContract(simulatorHttp, simulatorOverHttp)
