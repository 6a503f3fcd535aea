import { fstatSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  KeyAdministration,
  type KeyStatus,
  type KeysStatus,
  makeKey,
  parseKeys,
} from '@tollgate/core'
import { dataDirectoryOf, openDatabase, reach } from '../serve/database.ts'
import { keyFilesFrom } from '../serve/installation.ts'
import { findKeys } from '../serve/keys.ts'
import { createPrivateFile } from '../serve/private-file.ts'
import type { Shell } from '../shell.ts'
import { commandLineActor } from './actor.ts'
import { type Command, columns, type Given, print, UsageError } from './command.ts'
import { proposalOption } from './decide.ts'
import { settingsFor } from './settings.ts'
import { placeOfCommand } from './with-installation.ts'

const keysMakeCommand: Command = {
  name: 'keys make',
  summary: 'Create a key-encryption key for TOLLGATE_KEYS or the key file.',
  words: ['<id>'],
  options: {
    out: {
      type: 'string',
      value: 'file',
      meaning: 'Write the key to a new file that only its owner may read. Default: print it.',
    },
  },
  notes: 'The command refuses to print a key into a file that other users may read.',
  async run({ words: [id = ''], options: { out } }, shell) {
    const key = makeKey(id)
    try {
      parseKeys(key)
    } catch {
      throw new UsageError('the id of a key must have 1 to 40 letters, digits, "_" and "-"')
    }
    if (out === undefined) {
      refuseReadableOutput(shell)
      print(shell, key)
      return 0
    }
    if (!(await createPrivateFile(resolve(shell.folder, out), `${key}\n`))) {
      throw new UsageError(`${out} exists, and keys are never overwritten: name a new file`)
    }
    print(shell, `wrote key "${id}" to ${out}; keep a copy in a safe place`)
    return 0
  },
}

/** A shell that sends output to a file makes it readable by everybody, as a rule. @throws UsageError */
function refuseReadableOutput({ stdout: { fd } }: Shell): void {
  if (typeof fd !== 'number') return
  const output = fstatSync(fd)
  if (process.platform === 'win32' || !output.isFile() || (output.mode & 0o077) === 0) return
  throw new UsageError(
    'no key was created: standard output is a file that other users of this machine may read; use --out <file>, or run umask 077 first',
  )
}

const keysStatusCommand: Command = {
  name: 'keys status',
  summary:
    'Show data keys with their state, wrapping key and rows, and the data key that each process seals with.',
  options: {
    'no-count': { type: 'boolean', meaning: 'Do not count rows. Counting reads all sealed rows.' },
  },
  async run(given, shell) {
    return withKeys(given, shell, async (keys) => {
      const status = await keys.status(!given.flags.has('no-count'))
      const now = Date.now()
      const head = ['data key', 'purpose', 'state', 'age', 'wrapped by', 'rows']
      for (const line of columns([head, ...status.keys.map((key) => cells(key, now))]))
        print(shell, line)
      print(shell)
      const sealing = status.keys.find(
        ({ purpose, state }) => purpose === 'seal' && state === 'current',
      )
      for (const { name, data_key_id: id } of status.processes) {
        const isBehind = id !== null && id !== sealing?.id
        print(
          shell,
          `process ${name} seals with ${id ?? 'nothing yet'}${isBehind ? ' (behind)' : ''}`,
        )
      }
      if (status.processes.length === 0) print(shell, 'no process is running')
      for (const line of adviceOf(status)) print(shell, line)
      const problems = problemsOf(status)
      for (const line of problems) print(shell, `PROBLEM ${line}`)
      return problems.length === 0 ? 0 : 1
    })
  },
}

/**
 * What finishes a rotation, for the user who can: only the owner of the tables retires a key. A key that does not open
 * is a problem of its own, which no command solves.
 */
function adviceOf({ keys, processes, owner }: KeysStatus): string[] {
  const left = keys.filter(
    ({ state, problem }) =>
      problem === undefined && (state === 'announced' || state === 'previous'),
  )
  if (left.length === 0) return []
  const as =
    owner === undefined ? '' : ` with the database URL of the user ${owner}, who owns the tables`
  const isCurrent = (id: string | null) =>
    keys.some((key) => key.id === id && key.state === 'current')
  const isMoved =
    left.every(({ state, rows }) => state === 'previous' && rows === 0) &&
    processes.every(({ data_key_id: id }) => isCurrent(id))
  if (owner === undefined || !isMoved) {
    return [`a rotation is unfinished: run "tollgate keys rotate"${as}`]
  }
  return left.map(
    ({ id }) => `data key ${id} seals nothing any more: run "tollgate keys retire ${id}"${as}`,
  )
}

function problemsOf({ keys, processes, providerProblem }: KeysStatus): string[] {
  const wrappedBy = new Map(keys.map(({ id, keyEncryptionKeyId }) => [id, keyEncryptionKeyId]))
  return [
    ...keys
      .filter(({ problem }) => problem !== undefined)
      .map(({ id, problem }) => `data key ${id} does not open: ${problem}`),
    ...processes.flatMap(({ name, shut_key_ids: shut }) =>
      shut.map(
        (id) => `process ${name} cannot open data key ${id}: it lacks key "${wrappedBy.get(id)}"`,
      ),
    ),
    ...(providerProblem === undefined ? [] : [`nothing can be wrapped: ${providerProblem}`]),
  ]
}

function cells(key: KeyStatus, now: number): string[] {
  const days = Math.floor((now - (key.promotedAt ?? key.createdAt).getTime()) / 86_400_000)
  const age = days === 1 ? '1 day' : `${days} days`
  const rows = key.rows === undefined ? '' : String(key.rows)
  return [key.id, key.purpose, key.state, age, key.keyEncryptionKeyId, rows]
}

const waitOption = {
  wait: {
    type: 'string',
    value: 'seconds',
    meaning: 'How long to wait for running processes. Default: 120.',
  },
} as const

function waitMsOf({ options }: Given): number {
  const wait = Number(options.wait ?? 120)
  if (Number.isInteger(wait) && wait >= 1 && wait <= 86_400) return wait * 1000
  throw new UsageError('--wait must be a whole number of seconds from 1 to 86400')
}

const keysRotateCommand: Command = {
  name: 'keys rotate',
  summary:
    'Re-seal all rows under a new data key while payments continue, or finish an interrupted rotation.',
  options: {
    fresh: {
      type: 'boolean',
      meaning: 'Create a new data key even if the last rotation is unfinished.',
    },
    lost: {
      type: 'boolean',
      meaning:
        'Continue although keys are permanently lost. Rows sealed under them stay unreadable.',
    },
    ...waitOption,
    ...proposalOption,
  },
  notes:
    'Safe to run at any time, repeatedly and concurrently. After an interruption, run the command again.',
  async run(given, shell) {
    const waitMs = waitMsOf(given)
    return withKeys(given, shell, async (keys) => {
      const done = await keys.rotate(
        {
          fresh: given.flags.has('fresh'),
          lost: given.flags.has('lost'),
          waitMs,
          tell: (line) => print(shell, line),
        },
        given.options.proposal,
      )
      for (const { keyId, why } of done.kept)
        print(shell, `PROBLEM data key ${keyId} stays: ${why}`)
      print(shell, `${done.moved} rows re-sealed; current data key: ${done.keyId}`)
      return done.kept.length === 0 ? 0 : 1
    })
  },
}

const keysRewrapCommand: Command = {
  name: 'keys rewrap',
  summary: 'Wrap all data keys with the current key-encryption key. Changes no sealed row.',
  options: waitOption,
  notes:
    'First give the new key-encryption key to every running process: the command changes nothing while one lacks it, and names it.',
  async run(given, shell) {
    const waitMs = waitMsOf(given)
    return withKeys(given, shell, async (keys) => {
      const done = await keys.rewrap({ waitMs, tell: (line) => print(shell, line) })
      for (const { keyId, why } of done.kept)
        print(shell, `PROBLEM data key ${keyId} stays: ${why}`)
      if (done.kept.length === 0) print(shell, `all data keys are under key "${done.keyId}"`)
      return done.kept.length === 0 ? 0 : 1
    })
  },
}

const keysRenewMacCommand: Command = {
  name: 'keys renew-mac',
  summary:
    'Replace the key of fingerprints and digests. Rarely needed, and only while no process runs.',
  options: { confirm: { type: 'boolean', meaning: 'Required to replace the key.' } },
  notes:
    'Numbers stored afterwards have other fingerprints than the same numbers stored before. Tollgate still recognises repeated requests by the old key; if the old key is lost, repeats are carried out again.',
  async run(given, shell) {
    if (!given.flags.has('confirm')) {
      throw new UsageError(
        'nothing was changed; read tollgate keys renew-mac --help, then add --confirm',
      )
    }
    return withKeys(given, shell, async (keys) => {
      print(shell, `new key of fingerprints and digests: data key ${await keys.renewMac()}`)
      return 0
    })
  },
}

const keysRetireCommand: Command = {
  name: 'keys retire',
  summary: 'Retire a data key without rows, or destroy it permanently.',
  words: ['<data key id>'],
  options: {
    destroy: {
      type: 'boolean',
      meaning: 'Overwrite the key. Rows of old table copies that it sealed stay unreadable.',
    },
  },
  async run(given, shell) {
    const [id = ''] = given.words
    return withKeys(given, shell, async (keys) => {
      print(
        shell,
        `data key ${id} is ${await keys.retire(id, { destroy: given.flags.has('destroy') })}`,
      )
      return 0
    })
  },
}

/** Opens the keys of the installation beside the processes that run on it. Never makes any. */
async function withKeys(
  given: Given,
  shell: Shell,
  work: (keys: KeyAdministration) => Promise<number>,
): Promise<number> {
  const settings = await settingsFor(given, shell)
  const place = placeOfCommand(shell)
  const database = await openDatabase(settings, place)
  try {
    const located = { ...settings, ...keyFilesFrom(settings, place) }
    const provider = await findKeys(located, dataDirectoryOf(settings, place), true, (line) =>
      print(shell, line),
    )
    try {
      await using keys = await reach(database, () =>
        KeyAdministration.open({
          database: database.options,
          keys: provider,
          log: place.log,
          by: commandLineActor(),
          fourEyes: settings.fourEyes,
        }),
      )
      return await work(keys)
    } finally {
      await provider.close?.()
    }
  } finally {
    await database.stop()
  }
}

export const commands: readonly Command[] = [
  keysStatusCommand,
  keysMakeCommand,
  keysRotateCommand,
  keysRewrapCommand,
  keysRetireCommand,
  keysRenewMacCommand,
]
