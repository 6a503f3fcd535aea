import {
  connectorContract,
  // #settlement
  settlementContract,
  // #end
} from '@tollgate/plugin-kit/testing'
// #settlement
import { files } from '../sandbox/files.ts'
// #end
import { sandbox } from '../sandbox/sandbox.ts'
import { acmeBank } from '../src/index.ts'

connectorContract(acmeBank, sandbox)
// #settlement
settlementContract(acmeBank, files)
// #end
