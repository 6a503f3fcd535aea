import { type Command, columns, print, withInstallation } from './command.ts'
import { told } from './inspect.ts'

export const settlementReport: Command = {
  name: 'settlement report',
  summary: 'Make the CSV files of new records now.',
  options: {
    entity: {
      type: 'string',
      value: 'id',
      meaning: 'Entity whose files are made, with all entities below it. Default: all.',
    },
    json: { type: 'boolean', meaning: 'Print JSON.' },
  },
  notes:
    'A running worker makes them a minute after new records. Merchants read them with GET /reports/v1/reconciliations/files.',
  async run(given) {
    const { entity } = given.options
    return withInstallation(given, {}, async ({ gateway }) => {
      const files = await told(() =>
        gateway.reports.cut(entity === undefined ? {} : { entityId: entity }),
      )
      if (given.flags.has('json')) print(JSON.stringify(files, undefined, 2))
      else if (files.length === 0) print('no new records')
      else {
        const rows = files.map(({ id, name, rows }) => [
          id,
          name,
          `${rows} ${rows === 1 ? 'record' : 'records'}`,
        ])
        for (const line of columns(rows)) print(line)
      }
      return 0
    })
  },
}
