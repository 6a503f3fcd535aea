import { existsSync } from 'node:fs'
import { checkPlugins, databaseAddress } from '@tollgate/core'
import { PluginError } from '@tollgate/plugin-kit'
import pg from 'pg'
import { loadPlugins } from '../config/plugins.ts'
import { type HostSettings, SettingsError } from '../config/read-settings.ts'
import {
  examineAudit,
  examineKeys,
  examineMigrations,
  examineRows,
  examineServer,
  type Finding,
} from '../doctor/examine.ts'
import { DoctorStore } from '../doctor/store.ts'
import { isLoopback } from '../http/loopback.ts'
import { dataDirectoryOf, keyFilesFrom, openDatabase, reach } from '../serve/installation.ts'
import { findKeys, KeysError } from '../serve/keys.ts'
import { type Command, placeOfCommand, print, settingsFor, UsageError } from './command.ts'

const defaultDays = 35
const statementLimitMs = 60_000

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Check an installation. Exits with 1 if there is a problem.',
  options: {
    days: {
      type: 'string',
      value: 'number',
      meaning: `How many days of rows to check. Default: ${defaultDays}.`,
    },
  },
  async run(given) {
    const settings = await settingsFor(given)
    const days = Number(given.options.days ?? defaultDays)
    if (!Number.isInteger(days) || days < 1 || days > 36_500) {
      throw new UsageError('--days must be a whole number from 1 to 36500')
    }
    // What a process finds without the database is shown also while the database is away.
    const around = [...surroundings(settings), await examinePlugins(settings)]
    show(around)
    const inside = await examine(settings, days)
    show(inside)
    const problems = [...around, ...inside].filter(({ is }) => is === 'problem').length
    print()
    print(problems === 0 ? 'No problems.' : problems === 1 ? '1 problem.' : `${problems} problems.`)
    return problems === 0 ? 0 : 1
  },
}

const signs = { well: 'ok      ', note: 'note    ', problem: 'PROBLEM ' }

function show(findings: readonly Finding[]): void {
  for (const { is, text } of findings) print(`${signs[is]} ${text}`)
}

function surroundings(settings: HostSettings): Finding[] {
  const findings: Finding[] = [{ is: 'well', text: `Node ${process.versions.node}` }]
  if (!isLoopback(settings.host) && settings.tlsCertificateFile === undefined) {
    const text = `HOST is ${settings.host} without a certificate: card data crosses the network unencrypted unless a proxy terminates TLS`
    findings.push({ is: 'note', text })
  }
  return findings
}

/** The plugins and the settings of their connectors, as a start takes them. */
async function examinePlugins(settings: HostSettings): Promise<Finding> {
  try {
    const plugins = await loadPlugins(settings, placeOfCommand().folder)
    checkPlugins(plugins, settings.connectors)
    return { is: 'well', text: `plugins: ${plugins.map(({ name }) => name).join(', ') || 'none'}` }
  } catch (thrown) {
    if (!(thrown instanceof SettingsError || thrown instanceof PluginError)) throw thrown
    return { is: 'problem', text: `serve would not start: ${thrown.message}` }
  }
}

async function examine(settings: HostSettings, days: number): Promise<Finding[]> {
  const place = placeOfCommand()
  const directory = dataDirectoryOf(settings, place)
  if (settings.databaseUrl === undefined && !existsSync(directory)) {
    return [{ is: 'problem', text: `there is no database in ${directory} yet: run tollgate serve` }]
  }
  const database = await openDatabase(settings, place)
  const client = new pg.Client({
    ...databaseAddress(database.options),
    connectionTimeoutMillis: 5000,
    application_name: 'tollgate doctor',
    query_timeout: statementLimitMs,
  })
  // The failing query reports a server that disappears.
  client.on('error', () => {})
  try {
    await reach(database, () => client.connect())
    // A pooler in transaction mode would hand the setting on to strangers.
    if (settings.prepare) await client.query(`set statement_timeout = ${statementLimitMs}`)
    const store = new DoctorStore(client, settings.databaseSchema)
    const findings = await examineServer(store)
    if (!(await store.isThere())) {
      return [...findings, { is: 'problem', text: 'no tables yet: run tollgate migrate' }]
    }
    const located = { ...settings, ...keyFilesFrom(settings, place) }
    const migrations = await examineMigrations(store)
    findings.push(migrations)
    try {
      // True: the doctor never makes keys.
      const keys = await findKeys(located, directory, true, print)
      findings.push(await examineKeys(store, keys))
      if (migrations.is === 'well') {
        findings.push(...(await examineAudit(database.options, keys)))
      }
      await keys.close?.()
    } catch (thrown) {
      if (!(thrown instanceof KeysError)) throw thrown
      findings.push({ is: 'problem', text: thrown.message })
    }
    return [...findings, ...(await examineRows(store, settings.environment, days))]
  } finally {
    await client.end().catch(() => {})
    await database.stop()
  }
}
