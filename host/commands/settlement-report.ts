import { type Command, jsonOption, printList } from './command.ts'
import { withInstallation } from './with-installation.ts'

export const settlementReport: Command = {
  name: 'settlement report',
  summary: 'Make the CSV files of new records now.',
  options: {
    entity: {
      type: 'string',
      value: 'id',
      meaning: 'Entity whose files are made, with all entities below it. Default: all.',
    },
    ...jsonOption,
  },
  notes:
    'A running worker makes them a minute after new records. Merchants read them with GET /reports/v1/reconciliations/files.',
  async run(given, shell) {
    const { entity } = given.options
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const files = await gateway.reports.cut(entity === undefined ? {} : { entityId: entity })
      printList(given, shell, files, {
        none: 'no new records',
        cells: ({ id, name, rows }) => [id, name, `${rows} ${rows === 1 ? 'record' : 'records'}`],
      })
      return 0
    })
  },
}
