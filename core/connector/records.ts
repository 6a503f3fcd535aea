import type { Json, Records } from '@tollgate/plugin-kit'
import type { Lanes } from '../db/lanes.ts'
import { addRecord, recordByKey, swapRecord } from './store.ts'

/** The records that the engine keeps for one part of a plugin and one account. */
export const openRecords = (lanes: Lanes, connector: string, account: string): Records => ({
  async get(key) {
    const [row] = await lanes.single(recordByKey(connector, account, key))
    return row?.value as Json | undefined
  },
  async swap(key, expected, value) {
    const rows = await lanes.single(
      expected === undefined
        ? addRecord(connector, account, key, JSON.stringify(value))
        : swapRecord(connector, account, key, JSON.stringify(expected), JSON.stringify(value)),
    )
    return rows.length > 0
  },
})
