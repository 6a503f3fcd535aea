import { migrateDatabase } from '@tollgate/core'
import { openDatabase, reach } from '../serve/installation.ts'
import { type Command, placeOfCommand, print, settingsFor } from './command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the database up to date. Safe while others run or migrate too. Needs no keys.',
  async run(given) {
    const settings = await settingsFor(given)
    const database = await openDatabase(settings, placeOfCommand())
    try {
      const ran = await reach(database, () =>
        migrateDatabase({ url: database.url, schema: settings.databaseSchema }),
      )
      for (const name of ran) print(`ran ${name}`)
      print(`${database.title} is up to date`)
      return 0
    } finally {
      await database.stop()
    }
  },
}
