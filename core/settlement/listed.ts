/** Settlement files on the operators' list: one entry per file and kind. */
import type { Sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { Exceptions } from './exceptions.ts'
import { endExceptions, listException } from './store-decided.ts'
import type { FileRow } from './store-file.ts'
import { type ExceptionKind, exceptionKinds } from './types.ts'

type ListedFile = Pick<FileRow, 'id' | 'entity_id' | 'name' | 'institute'>

/** What an operator can do about the exceptions of a kind. */
const advice: Readonly<Record<ExceptionKind, string>> = {
  UNKNOWN_TYPE: 'Ask the author of the connector to add the type; the other lines were imported.',
  UNREADABLE: 'Ask the institute for a corrected file, and import it.',
  UNKNOWN_ACCOUNT:
    'Create the account with this merchant number, then ask the institute for a new file; or resolve the entry if the merchant is not yours.',
  CHANGED: 'Compare both lines with the institute. The values of the earlier file stay.',
  REPEATED:
    'Compare both files. If the lines are separate, ask the institute for ids of its lines, and add the amounts by hand: they count once.',
}

const entry = (
  file: ListedFile,
  kind: string,
  why: string,
  detail: Readonly<Record<string, unknown>>,
): Sql =>
  listException({
    id: newId(),
    entityId: file.entity_id,
    detail: { why, kind, file: file.id, name: file.name, institute: file.institute, ...detail },
    reference: `${kind} ${file.id}`,
  })

export const listRefused = (file: ListedFile, line: number | null, why: string): Sql =>
  entry(file, 'REFUSED', `nothing of the file was imported: ${why}`, {
    ...(line === null ? {} : { lines: [line] }),
    expected: 'a complete file whose lines can all be read',
    came: why,
    do: 'Import a complete file. For unreadable lines only: tollgate settlement import --skip-bad-lines.',
  })

/** Lines without an id that the earlier file of a reference does not have. */
export type AddedLines = { readonly count: number; readonly first: readonly number[] }

/** The same reference with other bytes. */
export const listChanged = (file: ListedFile, earlierId: string, added: AddedLines): Sql =>
  entry(file, 'FILE_CHANGED', 'the institute sent another file under a known reference', {
    expected: `the bytes of file ${earlierId}`,
    ...(added.count === 0
      ? {
          came: 'other bytes; lines that were imported before are not imported again',
          do: 'Ask the institute which of the two files counts.',
        }
      : {
          lines: added.first,
          count: added.count,
          came: 'other bytes, with lines without an id that the earlier file does not have; both count',
          do: 'Compare these lines with the earlier file. A line that replaces one of it counts twice: ask the institute for an adjustment, and correct the books by hand until it comes.',
        }),
  })

/** A step that keeps failing. */
export const listStuck = (file: ListedFile, tries: number, name: string): Sql =>
  entry(file, 'STUCK', `the file could not be processed ${tries} times, and is tried again`, {
    expected: `the state after ${file.name}`,
    came: name,
    do: 'Read the log of the worker. Later files of the same merchant number wait for this one.',
  })

/** A file that is read again: ends the entries of its earlier readings of which nothing is left. */
export const endListed = (file: ListedFile, exceptions: Exceptions): Sql => {
  const kinds = exceptionKinds.filter((kind) => exceptions.count(kind) === 0)
  return endExceptions(['REFUSED', ...kinds].map((kind) => `${kind} ${file.id}`))
}

export const listExceptions = (file: ListedFile, exceptions: Exceptions): Sql[] =>
  exceptions.kinds.map(({ kind, count, first }) =>
    entry(file, kind, `${count} ${count === 1 ? 'line' : 'lines'}: ${first[0]!.why}`, {
      lines: first.map(({ line }) => line),
      count,
      expected: expected[kind],
      came: [...new Set(first.map(({ why }) => why))],
      do: advice[kind],
    }),
  )

const expected: Readonly<Record<ExceptionKind, string>> = {
  UNKNOWN_TYPE: 'a type of line that the connector knows',
  UNREADABLE: 'a line in the format of the institute',
  UNKNOWN_ACCOUNT: 'the merchant number of an account',
  CHANGED: 'the values of the earlier file',
  REPEATED: 'a line without an id is in one file',
}
