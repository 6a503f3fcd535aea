import { type Command, print, withInstallation } from './command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the database up to date. Safe while others run or migrate too.',
  async run(given) {
    // Opening an installation migrates; TOLLGATE_MIGRATE=false is for the processes that serve.
    return withInstallation(given, { migrate: true }, async ({ database }) => {
      print(`${database.title} is up to date`)
      return 0
    })
  },
}
