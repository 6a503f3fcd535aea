import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { ExceptionalRecordView, SettlementFileView } from '@tollgate/core'
import type { Shell } from '../shell.ts'
import { commandLineActor } from './actor.ts'
import {
  type Command,
  columns,
  jsonOption,
  needed,
  print,
  printList,
  UsageError,
} from './command.ts'
import { byOption, decidedBy, reasonOption } from './decide.ts'
import { settlementReport } from './settlement-report.ts'
import { harmless } from './shown-text.ts'
import { withInstallation } from './with-installation.ts'

const importCommand: Command = {
  name: 'settlement import',
  summary: 'Import a settlement file of an acquirer.',
  words: ['<file>'],
  options: {
    account: {
      type: 'string',
      value: 'id',
      meaning: 'Acquirer account that the file belongs to: tollgate account list.',
      isRequired: true,
    },
    'skip-bad-lines': {
      type: 'boolean',
      meaning: 'Leave out unreadable lines and list them, instead of refusing the file.',
    },
    name: {
      type: 'string',
      value: 'text',
      meaning: 'Name to show instead of the name of the file.',
    },
  },
  notes:
    'The command stores the file. A running worker reads it within seconds; tollgate settlement show then prints the result.',
  async run(given, shell) {
    const [path = ''] = given.words
    const accountId = needed(given, 'account')
    const file = resolve(shell.folder, path)
    const bytes = await sizeOf(file, path)
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const read = shown(shell, createReadStream(file), bytes)
      const stored = await gateway.settlement.import(read, {
        accountId,
        name: given.options.name ?? basename(path),
        skipBadLines: given.flags.has('skip-bad-lines'),
        by: commandLineActor(),
      })
      print(
        shell,
        stored.isRepeat
          ? `these bytes were imported before, so nothing happened: tollgate settlement show ${stored.id}`
          : `stored ${stored.bytes} bytes: tollgate settlement show ${stored.id}`,
      )
      return 0
    })
  },
}

/** @throws UsageError when there is no file to read. */
async function sizeOf(file: string, path: string): Promise<number> {
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) throw new UsageError(`there is no file ${path}`)
  if (!found.isFile()) throw new UsageError(`${path} is not a file`)
  if (found.size === 0) throw new UsageError(`${path} is empty`)
  return found.size
}

const barCharacters = 30

/** The same bytes, with a progress bar on a terminal. */
async function* shown(
  { stderr }: Shell,
  bytes: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array> {
  const isTerminal = stderr.isTTY === true
  let done = 0
  let drawn = -1
  for await (const chunk of bytes) {
    yield chunk
    done += chunk.length
    const percent = Math.min(100, Math.floor((100 * done) / size))
    if (!isTerminal || percent === drawn) continue
    drawn = percent
    const filled = Math.round((percent / 100) * barCharacters)
    const bar = '#'.repeat(filled).padEnd(barCharacters, '.')
    stderr.write(`\r[${bar}] ${percent} %${percent === 100 ? '\n' : ''}`)
  }
}

const limitOption = (noun: string) => ({
  type: 'string' as const,
  value: 'number',
  meaning: `Maximum number of ${noun}. Default: 100.`,
})

/** @throws UsageError */
function limitOf(text = '100'): number {
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit
  throw new UsageError('--limit must be a whole number from 1 to 1000')
}

const list: Command = {
  name: 'settlement list',
  summary: 'List settlement files, newest first.',
  options: {
    limit: limitOption('files'),
    ...jsonOption,
  },
  async run(given, shell) {
    const limit = limitOf(given.options.limit)
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const files = await gateway.settlement.files({ limit })
      const none = 'no settlement files: tollgate settlement import <file> --account <id>'
      printList(given, shell, files, { none, cells })
      return 0
    })
  },
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const cells = (file: SettlementFileView): string[] => [
  file.id,
  file.receivedAt,
  file.state,
  file.institute,
  harmless(file.name),
  counted(file.records, 'record'),
  file.exceptionCount === 0 ? '' : `${counted(file.exceptionCount, 'line')} left out`,
  file.refused === undefined ? '' : harmless(whyOf(file.refused)),
]

const whyOf = ({ line, why }: NonNullable<SettlementFileView['refused']>): string =>
  line === undefined ? why : `line ${line}: ${why}`

const show: Command = {
  name: 'settlement show',
  summary: 'Show a settlement file and the lines that it left out. Exits with 2 if it was refused.',
  words: ['<file>'],
  options: jsonOption,
  async run(given, shell) {
    const [id = ''] = given.words
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const file = await gateway.settlement.file(id)
      const lines = given.flags.has('json') ? [JSON.stringify(file, undefined, 2)] : linesOf(file)
      for (const line of lines) print(shell, line)
      return file.state === 'refused' ? 2 : 0
    })
  },
}

function linesOf(file: SettlementFileView): string[] {
  const { exceptions: leftOut = [], exceptionCount, refused, ...facts } = file
  const rows = Object.entries(facts).map(([name, value]) => [name, harmless(String(value))])
  rows.push(['linesLeftOut', String(exceptionCount)])
  if (refused !== undefined) rows.push(['refused', harmless(whyOf(refused))])
  const table = leftOut.map(({ line, kind, why }) => [`line ${line}`, kind, harmless(why)])
  return [...columns(rows), ...(table.length === 0 ? [] : ['', ...columns(table)])]
}

const exceptions: Command = {
  name: 'settlement exceptions',
  summary:
    'List records to check: those that fit no payment, or several, or that differ from their payment. Newest first.',
  options: {
    file: { type: 'string', value: 'id', meaning: 'Only records of this settlement file.' },
    limit: limitOption('records'),
    ...jsonOption,
  },
  notes:
    'Each line has the id of the record, and the payments that the record may be about. UNCONFIRMED: only amount, card and brand name the payment, so the record changes nothing before you assign it. tollgate settlement assign gives the record to its payments.',
  async run(given, shell) {
    const limit = limitOf(given.options.limit)
    const { file } = given.options
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const records = await gateway.settlement.exceptions({
        limit,
        ...(file !== undefined && { fileId: file }),
      })
      printList(given, shell, records, { none: 'there is no record to check', cells: recordCells })
      return 0
    })
  },
}

const shownCandidates = 3

function recordCells(record: ExceptionalRecordView): string[] {
  const { candidates, candidateCount } = record
  const shown = candidates.slice(0, shownCandidates).join(', ')
  const more = candidateCount - Math.min(candidates.length, shownCandidates)
  return [
    record.id,
    `${record.settlementDate} line ${record.line}`,
    `${record.recordType} ${record.transactionType}`,
    `${record.cashflow === 'NEG' ? '-' : ''}${record.amount} ${record.currency}`,
    [
      record.matchStatus ?? '',
      ...record.discrepancies,
      ...(record.isUnconfirmed === true ? ['UNCONFIRMED'] : []),
    ]
      .join(' ')
      .trim(),
    harmless(record.merchantTransactionId ?? ''),
    candidateCount === 0 ? '' : `candidates ${shown}${more > 0 ? ` and ${more} more` : ''}`,
  ]
}

const assign: Command = {
  name: 'settlement assign',
  summary: 'Give a record to its payments, for good.',
  words: ['<record>', '<payment>…'],
  options: { ...reasonOption, ...byOption },
  async run(given, shell) {
    const [record = '', ...payments] = given.words
    const decided = decidedBy(given)
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      await gateway.settlement.assign(record, payments, decided)
      print(shell, `record ${record} is about ${payments.join(', ')}`)
      return 0
    })
  },
}

const rerun: Command = {
  name: 'settlement rerun',
  summary: 'Read a settlement file again, and compare its undecided records with all payments.',
  words: ['<file>'],
  options: { ...reasonOption, ...byOption },
  async run(given, shell) {
    const [id = ''] = given.words
    const decided = decidedBy(given)
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      await gateway.settlement.rerun(id, decided)
      print(shell, `a running worker reads the file again: tollgate settlement show ${id}`)
      return 0
    })
  },
}

export const commands: readonly Command[] = [
  importCommand,
  list,
  show,
  exceptions,
  assign,
  rerun,
  settlementReport,
]
