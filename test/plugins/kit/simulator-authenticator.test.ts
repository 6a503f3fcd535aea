/** Both transports of the simulated issuer keep the contract of authenticators. */
import { authenticatorContract } from '@tollgate/plugin-kit/testing'
import { simulatorHttpAuthenticator } from '../../../connectors/simulator/http-connector.ts'
import { issuerInProcess, issuerOverHttp } from './simulator-issuer.ts'

const { authenticator, sandbox } = issuerInProcess()
authenticatorContract(authenticator, sandbox)
authenticatorContract(simulatorHttpAuthenticator, issuerOverHttp)
