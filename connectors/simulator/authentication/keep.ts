/** Cases in the records that the engine stores, so that every process serves the same pages. */
import type { Json, Records } from '@tollgate/plugin-kit'
import type { Cases, CaseVisit } from '../pages/challenge.ts'
import { caseFromJson, caseToJson } from './answer.ts'
import { type Case, openCase, type Question, whenOver } from './case.ts'

export const authenticatorName = 'simulator-3ds'
/** The merchant of cases inside the process, where records belong to one account. */
export const merchantInside = 'internal'

/** Simultaneous changes of one case; more rounds than that are a fault. */
const mostRounds = 100

const recordOf = (key: string): string => `case/${key}`

/** Changes a record under its stored value; a change by another process is seen first. */
async function changeRecord(
  records: Records,
  key: string,
  change: (found: Case | undefined) => Case | undefined,
): Promise<Case | undefined> {
  for (let round = 0; round < mostRounds; round += 1) {
    const stored: Json | undefined = await records.get(recordOf(key))
    const found = stored === undefined ? undefined : caseFromJson(stored)
    const changed = change(found)
    if (changed === undefined || changed === found) return changed
    if (await records.swap(recordOf(key), stored, caseToJson(changed))) return changed
  }
  throw new Error('the simulator could not store an authentication: its record kept changing')
}

/** The cases as the pages use them. */
export const casesIn = (records: Records): Cases => ({
  find: ({ key }: CaseVisit) => changeRecord(records, key, (found) => found),
  change: ({ key }, change) =>
    changeRecord(records, key, (found) => (found === undefined ? undefined : change(found))),
})

/** The case of a key: the one that is known, or a new one. */
export const beginCase = async (
  records: Records,
  question: Question,
  now: Parameters<typeof openCase>[1],
): Promise<Case> =>
  (await changeRecord(records, question.key, (found) =>
    found === undefined ? openCase(question, now) : whenOver(found, now.business),
  ))!

/** The case of a key at this time; undefined for an unused key. */
export const caseAt = (records: Records, key: string, now: number): Promise<Case | undefined> =>
  changeRecord(records, key, (found) => (found === undefined ? undefined : whenOver(found, now)))
