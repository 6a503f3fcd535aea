import {
  type Setting,
  type SettingFormat,
  settingTable,
  structuredSettings,
} from './setting-table.ts'

function formatInWords(format: SettingFormat): string {
  switch (format.kind) {
    case 'text':
      return 'text'
    case 'flag':
      return 'true or false'
    case 'choice':
      return format.of.join(', ')
    case 'integer':
      return `${format.min} to ${format.max}`
    case 'url':
      return `${format.schemes[0]}://…`
  }
}

/** One setting for help and documentation. */
export type SettingDescription = {
  readonly name: string
  readonly env: string
  readonly format: string
  readonly default: string
  readonly meaning: string
}

/** All settings in words, in the order of the table. */
export function describeSettings(): SettingDescription[] {
  const plain = (settingTable as readonly Setting[]).map((row) => ({
    name: row.name,
    env: row.env,
    format: formatInWords(row.format),
    default: row.default ?? '',
    meaning: row.meaning,
  }))
  const structured = structuredSettings.map((row) => ({
    name: row.name,
    env: row.env ?? '',
    format: row.name === 'connectors' || row.name === 'pods' ? 'JSON' : 'list',
    default: '',
    meaning: row.meaning,
  }))
  return [...plain, ...structured]
}
