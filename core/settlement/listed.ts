/** Settlement files on the operators' list: one entry per file and kind. */
import { addEntityAttention } from '../attention/store.ts'
import type { Sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { Exceptions } from './exceptions.ts'
import type { FileRow } from './store-file.ts'
import type { ExceptionKind } from './types.ts'

type ListedFile = Pick<FileRow, 'id' | 'entity_id' | 'name' | 'institute'>

/** What an operator can do about the exceptions of a kind. */
const advice: Readonly<Record<ExceptionKind, string>> = {
  UNKNOWN_TYPE: 'Ask the author of the connector to add the type; the other lines were imported.',
  UNREADABLE: 'Ask the institute for a corrected file, and import it.',
  UNKNOWN_ACCOUNT:
    'Create the account with this merchant number, then ask the institute for a new file; or resolve the entry if the merchant is not yours.',
  CHANGED: 'Compare both lines with the institute. The values of the earlier file stay.',
}

const entry = (
  file: ListedFile,
  kind: string,
  why: string,
  detail: Readonly<Record<string, unknown>>,
): Sql =>
  addEntityAttention(
    newId(),
    'settlement',
    file.entity_id,
    { why, kind, file: file.id, name: file.name, institute: file.institute, ...detail },
    `${kind} ${file.id}`,
  )

export const listRefused = (file: ListedFile, line: number | null, why: string): Sql =>
  entry(file, 'REFUSED', `nothing of the file was imported: ${why}`, {
    ...(line === null ? {} : { lines: [line] }),
    expected: 'a complete file whose lines can all be read',
    came: why,
    do: 'Import a complete file. For unreadable lines only: tollgate settlement import --skip-bad-lines.',
  })

/** The same reference with other bytes. */
export const listChanged = (file: ListedFile, earlierId: string): Sql =>
  entry(file, 'FILE_CHANGED', 'the institute sent another file under a known reference', {
    expected: `the bytes of file ${earlierId}`,
    came: 'other bytes; lines that were imported before are not imported again',
    do: 'Ask the institute which of the two files counts.',
  })

/** A step that keeps failing. */
export const listStuck = (file: ListedFile, tries: number, name: string): Sql =>
  entry(file, 'STUCK', `the file could not be processed ${tries} times, and is tried again`, {
    expected: `the state after ${file.name}`,
    came: name,
    do: 'Read the log of the worker. Later files of the same merchant number wait for this one.',
  })

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
}
