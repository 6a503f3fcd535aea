/** The installation of a command. The engine is loaded when it is needed: help and wrong words do without. */
import { resultDescription } from '@tollgate/schemas'
import { openLog } from '../logging.ts'
import type { Place } from '../serve/database.ts'
import type { Installation } from '../serve/installation.ts'
import type { Shell } from '../shell.ts'
import { type Given, UsageError } from './command.ts'

/** The folder and log of a command; the log contains failures only. */
export function placeOfCommand(shell: Shell): Place {
  const { folder, stderr } = shell
  return { folder, log: openLog('warn', stderr.isTTY === true, shell).log }
}

/** Opens the installation for one piece of work, without jobs. */
export async function withInstallation<T>(
  given: Given,
  shell: Shell,
  {
    isFounder = false,
  }: {
    /** Creates what a new installation begins with, so it may be the first on a database. */
    readonly isFounder?: boolean
  },
  work: (installation: Installation) => Promise<T>,
): Promise<T> {
  const { settingsFor } = await import('./settings.ts')
  const settings = await settingsFor(given, shell)
  const user = isFounder ? 'founder' : 'command'
  const { openInstallation } = await import('../serve/installation.ts')
  const place = placeOfCommand(shell)
  const installation = await openInstallation(settings, place, { role: 'api' }, user)
  try {
    return await work(installation)
  } finally {
    await installation.close()
  }
}

const notFound = resultDescription('700.400.580')

/**
 * Work on something that the user named. The engine has one sentence for everything that it does not find.
 *
 * @param absent The sentence for this one. @throws UsageError with it.
 */
export async function found<T>(absent: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    const isRefusal = thrown instanceof Error && thrown.name === 'GatewayError'
    if (isRefusal && thrown.message === notFound) throw new UsageError(absent)
    throw thrown
  }
}
