import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { howPrivate, isPrivate } from '../serve/private-file.ts'
import type { Shell } from '../shell.ts'
import { systemCode } from '../thrown.ts'
import { type Given, UsageError } from './command.ts'

/**
 * The secret in the file that an option names: a command line is shown to everybody on the machine, and
 * shells remember it.
 *
 * @throws UsageError when there is no such file, it is empty, or others may read it.
 */
export async function secretIn(
  given: Given,
  { folder }: Shell,
  option: string,
): Promise<string | undefined> {
  const path = given.options[option]
  if (path === undefined) return undefined
  try {
    const file = resolve(folder, path)
    if (!(await isPrivate(file))) {
      throw new UsageError(
        `--${option}: other users of this machine can read ${path}; ${howPrivate}`,
      )
    }
    const text = (await readFile(file, 'utf8')).trim()
    if (text === '') throw new UsageError(`--${option}: ${path} is empty`)
    return text
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown
    throw new UsageError(`--${option}: ${path} cannot be read (${systemCode(thrown)})`)
  }
}
