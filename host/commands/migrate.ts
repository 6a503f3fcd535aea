import { makeRoles, migrateDatabase } from '@tollgate/core'
import { openDatabase, reach } from '../serve/installation.ts'
import { type Command, columns, placeOfCommand, print, settingsFor, UsageError } from './command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the database up to date. Safe while others run or migrate too. Needs no keys.',
  options: {
    roles: {
      type: 'boolean',
      meaning:
        'Make two users of the database: one that migrates, one that runs and can change no row of the audit trail. Their URLs are shown this once.',
    },
  },
  notes:
    'With --roles as a user that may make others; afterwards migrate as the one, and serve as the other with TOLLGATE_MIGRATE=false.',
  async run(given) {
    const settings = await settingsFor(given)
    const isWithRoles = given.flags.has('roles')
    if (isWithRoles && settings.databaseUrl === undefined) {
      throw new UsageError(
        '--roles is for a PostgreSQL server of yours: the embedded one knows only its own user; set DATABASE_URL',
      )
    }
    const database = await openDatabase(settings, placeOfCommand())
    const options = { url: database.url, schema: settings.databaseSchema }
    try {
      const ran = await reach(database, () => migrateDatabase(options))
      for (const name of ran) print(`ran ${name}`)
      print(`${database.title} is up to date`)
      if (!isWithRoles) return 0
      const roles = await reach(database, () => makeRoles(options))
      const rows = roles.map(({ name, does, password }) => [
        does,
        password === undefined ? `${name} (was there; its password stays)` : urlOf(name, password),
      ])
      for (const line of columns(rows)) print(line)
      return 0
    } finally {
      await database.stop()
    }

    function urlOf(name: string, password: string): string {
      const url = new URL(database.url)
      url.username = name
      url.password = password
      return url.href
    }
  },
}
