import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { SettlementFileView } from '@tollgate/core'
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
import { limitOf, limitOption, recordCommands } from './settlement-records.ts'
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

const fetchCommand: Command = {
  name: 'settlement fetch',
  summary: "Fetch the new settlement files of an account at its acquirer's server now.",
  words: ['<account>'],
  notes:
    'The engine fetches by itself every hour. The request goes out from this machine, with the settings found here. A running worker reads the files within seconds.',
  async run(given, shell) {
    const [account = ''] = given.words
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const files = await gateway.settlement.fetch(account)
      print(
        shell,
        files === 0 ? 'no new files' : `${counted(files, 'file')}: tollgate settlement list`,
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
  fetchCommand,
  list,
  show,
  ...recordCommands,
  rerun,
  settlementReport,
]
