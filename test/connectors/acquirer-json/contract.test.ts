/** The worked example keeps the contract that it shows how to keep. */
import { connectorContract } from '@tollgate/plugin-kit/testing'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { sandbox } from '../../../connectors/acquirer-json/sandbox/sandbox.ts'

connectorContract(acquirerJson, sandbox)
