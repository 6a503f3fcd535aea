import { makeRoles, migrateDatabase } from '@tollgate/core'
import { databaseUrl } from '@tollgate/core/early'
import { openDatabase, reach } from '../serve/database.ts'
import { type Command, columns, print, UsageError } from './command.ts'
import { settingsFor } from './settings.ts'
import { placeOfCommand } from './with-installation.ts'

const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Run pending migrations. Safe while other processes run or migrate. Needs no keys.',
  options: {
    roles: {
      type: 'boolean',
      meaning:
        'Create two database users: one that migrates, and one that runs payments and cannot change the audit trail. The command shows their URLs only once.',
    },
  },
  notes:
    'Run with --roles as a database user that may create users. Afterwards migrate as the first user, and serve as the second with TOLLGATE_MIGRATE=false.',
  async run(given, shell) {
    const settings = await settingsFor(given, shell)
    const isWithRoles = given.flags.has('roles')
    if (isWithRoles && settings.databaseUrl === undefined) {
      throw new UsageError(
        '--roles needs a PostgreSQL server of your own, because the embedded one has a single user: set DATABASE_URL',
      )
    }
    const database = await openDatabase(settings, placeOfCommand(shell))
    const { options } = database
    try {
      const ran = await reach(database, () => migrateDatabase(options))
      for (const name of ran) print(shell, `ran ${name}`)
      print(shell, `${database.title} is up to date`)
      if (!isWithRoles) return 0
      const roles = await reach(database, () => makeRoles(options))
      const rows = roles.map(({ name, does, password }) => [
        does,
        password === undefined
          ? `${name} (exists already, password unchanged)`
          : urlOf(name, password),
      ])
      for (const line of columns(rows)) print(shell, line)
      return 0
    } finally {
      await database.stop()
    }

    function urlOf(name: string, password: string): string {
      const url = databaseUrl(database.url)
      url.username = name
      url.password = password
      return url.href
    }
  },
}

export const commands: readonly Command[] = [migrateCommand]
