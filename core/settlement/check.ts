/** Records that an accountant has checked: they leave the list, until a correction changes them. */
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { auditOf, type Decided } from './assign.ts'
import { listExceptions } from './exception-entries.ts'
import { checkRecord } from './store-check.ts'

/** What was checked. A later file can have changed the record since somebody read it. */
export type CheckedRecord = {
  readonly matchStatus: string
  readonly discrepancies: readonly string[]
}

/** @throws GatewayError 700.400.570 for a record that is not to be checked, or that needs another decision. */
export function check(engine: Engine, recordId: string, decided: Decided): Promise<CheckedRecord> {
  const audit = auditOf(decided)
  return engine.lanes.bulk(async (client) => {
    const [moved] = await engine.lanes.database.query(client, checkRecord(recordId, audit))
    if (moved === undefined) {
      throw new GatewayError('700.400.570', {
        description:
          'The record is not on the list of tollgate settlement exceptions, or it waits for a decision: UNCONFIRMED for tollgate settlement assign, EFFECT for tollgate settlement rerun.',
      })
    }
    await listExceptions(engine, client, { id: moved.file_id, name: moved.file_name })
    return { matchStatus: moved.match_status, discrepancies: moved.discrepancies }
  })
}
