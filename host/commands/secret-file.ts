import { readFile, stat } from 'node:fs/promises'
import { systemCode } from '../thrown.ts'
import { type Given, UsageError } from './command.ts'

/**
 * The secret in the file that an option names: a command line is shown to everybody on the machine, and
 * shells remember it.
 *
 * @throws UsageError when there is no such file, it is empty, or others may read it.
 */
export async function secretIn(given: Given, option: string): Promise<string | undefined> {
  const path = given.options[option]
  if (path === undefined) return undefined
  try {
    const about = await stat(path)
    if (process.platform !== 'win32' && about.isFile() && (about.mode & 0o077) !== 0) {
      throw new UsageError(
        `--${option}: other users of this machine can read ${path}; run chmod 600 on it`,
      )
    }
    const text = (await readFile(path, 'utf8')).trim()
    if (text === '') throw new UsageError(`--${option}: ${path} is empty`)
    return text
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown
    throw new UsageError(`--${option}: ${path} cannot be read (${systemCode(thrown)})`)
  }
}
