/** The parts of the documentation that repeat tables of the code, made from those tables. */
import { allCommands } from '../../host/cli.ts'
import { commonOptions, usageOf } from '../../host/commands/command.ts'
import { describeSettings } from '../../host/index.ts'
import type { TestDataRow } from '../../schemas/generate/test-data.ts'
import {
  type Field,
  formatInWords,
  groupsByName,
  officeEndpoints,
  paymentTypes,
  reconciliationColumns,
  reportedAmount,
  rights,
  roles,
} from '../../schemas/index.ts'
import { code, table } from './markdown.ts'
import { securityParts } from './security-facts.ts'
import { simulatorData } from './simulator-rows.ts'

/** One part: the lines between its marks in a page. */
export type GeneratedPart = {
  readonly page: string
  /** As in `<!-- generated: settings -->`. */
  readonly name: string
  readonly lines: readonly string[]
}

function settings(): string[] {
  return table(
    ['name', 'variable', 'values', 'default', 'meaning'],
    describeSettings().map((one) => [
      code(one.name),
      code(one.env),
      one.format,
      code(one.default),
      one.meaning,
    ]),
  )
}

function tokenRights(): string[] {
  const made = paymentTypes.filter(({ use }) => use !== 'record')
  return table(
    ['right', 'meaning', 'payment types'],
    rights
      .filter(({ ofTokens }) => ofTokens)
      .map(({ name, meaning }) => [
        code(name),
        meaning,
        made
          .filter(({ right }) => right === name)
          .map((type) => type.code)
          .join(', '),
      ]),
  )
}

function operatorRights(): string[] {
  return table(
    ['right', 'meaning'],
    rights.filter(({ ofTokens }) => !ofTokens).map(({ name, meaning }) => [code(name), meaning]),
  )
}

function operatorRoles(): string[] {
  return table(
    ['role', 'meaning', 'rights'],
    roles.map((role) => [
      code(role.name),
      role.meaning,
      role.rights.length === rights.length ? 'all' : role.rights.join(', '),
    ]),
  )
}

function officeApi(): string[] {
  return table(
    ['request', 'effect', 'right', 'fields'],
    officeEndpoints.map(({ method, path, title, right, fields }) => [
      code(`${method} ${path}`),
      `${title}.`,
      right === 'none' ? 'none' : right === 'session' ? 'any operator' : code(right),
      fields
        .map(({ name, need }) => (need === 'R' ? code(name) : `${code(name)} (optional)`))
        .join(', '),
    ]),
  )
}

const commands = await allCommands()

function commandLine(): string[] {
  return commands.flatMap((command) => {
    const options = Object.entries(command.options ?? {})
    return [
      `## ${command.name}`,
      '',
      '```sh',
      options.every(([, { isRequired }]) => isRequired === true)
        ? usageOf(command)
        : `${usageOf(command)} [options]`,
      '```',
      '',
      command.summary,
      ...(command.notes === undefined ? [] : ['', ...command.notes.split('\n')]),
      ...(options.length === 0
        ? []
        : [
            '',
            ...table(
              ['option', 'meaning'],
              options.map(([name, { value, meaning }]) => [
                code(value === undefined ? `--${name}` : `--${name} <${value}>`),
                meaning,
              ]),
            ),
          ]),
      '',
    ]
  })
}

function optionsOfAll(): string[] {
  return table(
    ['option', 'meaning'],
    Object.entries(commonOptions).map(([name, { value, meaning }]) => [
      code(value === undefined ? `--${name}` : `--${name} <${value}>`),
      meaning,
    ]),
  )
}

function aggregation(): string[] {
  return table(
    ['member', 'meaning'],
    groupsByName
      .get('aggregation response')!
      .fields.map(({ name, meaning }) => [code(name), meaning]),
  )
}

function reconciliationFile(): string[] {
  const { fields } = groupsByName.get('reconciliation record')!
  return table(
    ['column', 'in JSON', 'meaning', 'format'],
    reconciliationColumns.map((column) => {
      const of = fields.filter(({ options }) => options.column === column)
      return [
        code(column),
        of.map(({ name }) => code(name)).join(', '),
        of.map(({ meaning }) => meaning).join(' '),
        columnFormat(of[0]!),
      ]
    }),
  )
}

/** Institutes report larger amounts than requests may have, and with three decimals. A cell can have several ids. */
function columnFormat({ name, format }: Field): string {
  if (format === reportedAmount) {
    return 'up to 16 digits and two decimals, like 92.00; three decimals where the amount needs them'
  }
  const words = formatInWords(format)
  return name.includes('[n]') ? `list, each ${words}` : words
}

const simulator = simulatorData()
const cellsOf = ({ field, values, result, meaning }: TestDataRow) => [
  field,
  values,
  result,
  meaning,
]

function simulatorOutcomes(): string[] {
  return table(['field', 'value', 'result', 'meaning'], simulator.outcomes.map(cellsOf))
}

function simulatorAuthentications(): string[] {
  return table(['field', 'value', 'result', 'meaning'], simulator.authentications.map(cellsOf))
}

function simulatorSettlement(): string[] {
  return table(
    ['field', 'value', 'meaning'],
    simulator.settlement.map(({ field, values, meaning }) => [field, values, meaning]),
  )
}

export function generatedParts(): GeneratedPart[] {
  return [
    { page: 'docs/operating.md', name: 'settings', lines: settings() },
    { page: 'docs/tokens.md', name: 'rights', lines: tokenRights() },
    { page: 'docs/operators.md', name: 'roles', lines: operatorRoles() },
    { page: 'docs/operators.md', name: 'operator rights', lines: operatorRights() },
    { page: 'docs/operators.md', name: 'operators API', lines: officeApi() },
    { page: 'docs/command-line.md', name: 'common options', lines: optionsOfAll() },
    { page: 'docs/command-line.md', name: 'commands', lines: commandLine() },
    { page: 'docs/simulator.md', name: 'outcomes', lines: simulatorOutcomes() },
    { page: 'docs/simulator.md', name: 'authentications', lines: simulatorAuthentications() },
    { page: 'docs/simulator.md', name: 'settlement', lines: simulatorSettlement() },
    { page: 'docs/reconciliation.md', name: 'aggregation', lines: aggregation() },
    {
      page: 'docs/reconciliation.md',
      name: 'reconciliation columns',
      lines: reconciliationFile(),
    },
    ...securityParts(),
  ]
}

const end = '<!-- end of generated part -->'
const begin = (name: string) => `<!-- generated: ${name} -->`

/** The page with this part as the tables have it. @throws Error when the page has no place for the part. */
export function withPart(text: string, { page, name, lines }: GeneratedPart): string {
  const from = text.indexOf(begin(name))
  const to = text.indexOf(end, from)
  if (from === -1 || to === -1) throw new Error(`${page} has no part "${begin(name)}"`)
  return `${text.slice(0, from)}${begin(name)}\n${lines.join('\n').trimEnd()}\n${text.slice(to)}`
}

/** Names of the parts that a page has. */
export const partsIn = (text: string): string[] =>
  [...text.matchAll(/^<!-- generated: (.+) -->$/gm)].map(([, name]) => name!)
