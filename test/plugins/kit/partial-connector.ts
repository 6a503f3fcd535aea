/**
 * An acquirer with few abilities: no follow-ups, no events, no shopper. A test file as an author
 * writes it.
 */
import { connectorContract, type Sandbox } from '@tollgate/plugin-kit/testing'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { sandbox } from '../../../connectors/acquirer-json/sandbox/sandbox.ts'

const { name, title, contract, config, account, supports, debit, resolve } = acquirerJson

export const partialConnector = {
  name,
  title,
  contract,
  ...(config && { config }),
  ...(account && { account }),
  supports,
  ...(debit && { debit }),
  resolve: { ...(resolve.enquire && { enquire: resolve.enquire }) },
}

const { approved, declined, answers, open } = sandbox
export const partialSandbox: Sandbox = { approved, declined, ...(answers && { answers }), open }

// Imported by another test it registers nothing; run by itself it is an author's test file.
if (process.argv[1] === import.meta.filename) {
  connectorContract(partialConnector, partialSandbox, { parallel: 5 })
}
