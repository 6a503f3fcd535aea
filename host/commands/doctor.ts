import { existsSync } from 'node:fs'
import { checkPlugins, type KeyProvider } from '@tollgate/core'
import { databaseClient, settle } from '@tollgate/core/early'
import { PluginError } from '@tollgate/plugin-kit'
import { loadPlugins } from '../config/plugins.ts'
import { type HostSettings, SettingsError } from '../config/read-settings.ts'
import {
  examineAudit,
  examineKeys,
  examineMigrations,
  examineProcessKeys,
  examineRights,
  examineRows,
  examineServer,
  type Finding,
} from '../doctor/examine.ts'
import { DoctorStore } from '../doctor/store.ts'
import { isLoopback } from '../http/loopback.ts'
import { dataDirectoryOf, openDatabase, reach } from '../serve/database.ts'
import { keyFilesFrom } from '../serve/installation.ts'
import { findKeys, KeysError } from '../serve/keys.ts'
import type { Shell } from '../shell.ts'
import { type Command, print, UsageError } from './command.ts'
import { settingsFor } from './settings.ts'
import { placeOfCommand } from './with-installation.ts'

const defaultDays = 35
const statementLimitMs = 60_000

const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Check an installation. Exits with 1 if there is a problem.',
  options: {
    days: {
      type: 'string',
      value: 'number',
      meaning: `How many days of rows to check. Default: ${defaultDays}.`,
    },
  },
  async run(given, shell) {
    const settings = await settingsFor(given, shell)
    const days = Number(given.options.days ?? defaultDays)
    if (!Number.isInteger(days) || days < 1 || days > 36_500) {
      throw new UsageError('--days must be a whole number from 1 to 36500')
    }
    // What a process finds without the database is shown also while the database is away.
    const around = [...surroundings(settings), await examinePlugins(settings, shell)]
    show(shell, around)
    const inside = await examine(settings, days, shell)
    show(shell, inside)
    const problems = [...around, ...inside].filter(({ is }) => is === 'problem').length
    print(shell)
    print(
      shell,
      problems === 0 ? 'No problems.' : problems === 1 ? '1 problem.' : `${problems} problems.`,
    )
    return problems === 0 ? 0 : 1
  },
}

const signs = { well: 'ok      ', note: 'note    ', problem: 'PROBLEM ' }

function show(shell: Shell, findings: readonly Finding[]): void {
  for (const { is, text } of findings) print(shell, `${signs[is]} ${text}`)
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
async function examinePlugins(settings: HostSettings, { folder }: Shell): Promise<Finding> {
  try {
    const plugins = await loadPlugins(settings, folder)
    checkPlugins(plugins, settings.connectors, settings)
    return { is: 'well', text: `plugins: ${plugins.map(({ name }) => name).join(', ') || 'none'}` }
  } catch (thrown) {
    if (!(thrown instanceof SettingsError || thrown instanceof PluginError)) throw thrown
    return { is: 'problem', text: `serve would not start: ${thrown.message}` }
  }
}

async function examine(settings: HostSettings, days: number, shell: Shell): Promise<Finding[]> {
  const place = placeOfCommand(shell)
  const directory = dataDirectoryOf(settings, place)
  if (settings.databaseUrl === undefined && !existsSync(directory)) {
    return [{ is: 'problem', text: `there is no database in ${directory} yet: run tollgate serve` }]
  }
  const database = await openDatabase(settings, place)
  const client = databaseClient(database.options, {
    application_name: 'tollgate doctor',
    query_timeout: statementLimitMs,
  })
  try {
    await reach(database, () => client.connect())
    await settle(client, { statement_timeout: String(statementLimitMs) })
    const store = new DoctorStore(client, settings.databaseSchema)
    const findings = await examineServer(store)
    const located = { ...settings, ...keyFilesFrom(settings, place) }
    if (!(await store.isThere())) {
      findings.push({ is: 'problem', text: 'no tables yet: run tollgate migrate' })
      const keys = await keysFor(located, directory, false, shell)
      if ('text' in keys) findings.push(keys)
      else await keys.close?.()
      return findings
    }
    const migrations = await examineMigrations(store)
    findings.push(migrations, ...(await examineRights(store)))
    const keys = await keysFor(located, directory, (await store.dataKeys()).length > 0, shell)
    if ('text' in keys) findings.push(keys)
    else {
      findings.push(...(await examineKeys(store, keys)))
      if (migrations.is === 'well') {
        findings.push(...(await examineAudit(database.options, keys)))
      }
      await keys.close?.()
    }
    if (migrations.is === 'well') findings.push(...(await examineProcessKeys(store)))
    return [...findings, ...(await examineRows(store, settings.environment, days))]
  } finally {
    await client.end().catch(() => {})
    await database.stop()
  }
}

/** The keys, or what keeps them away. The doctor never makes keys. */
async function keysFor(
  settings: HostSettings,
  directory: string,
  isSealed: boolean,
  shell: Shell,
): Promise<KeyProvider | Finding> {
  const makesKeys = !isSealed && settings.environment !== 'live'
  try {
    return await findKeys(settings, directory, isSealed || makesKeys, (line) => print(shell, line))
  } catch (thrown) {
    if (!(thrown instanceof KeysError)) throw thrown
    return makesKeys
      ? { is: 'note', text: 'no keys yet: the first start of tollgate serve makes them' }
      : { is: 'problem', text: thrown.message }
  }
}

export const commands: readonly Command[] = [doctorCommand]
