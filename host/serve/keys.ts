import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { combinedKeys, type KeyProvider, localKeys, makeKey } from '@tollgate/core'
import { type HostSettings, SettingsError } from '../config/read-settings.ts'
import { reasonOf, systemCode } from '../thrown.ts'
import { openKeyServer } from './key-server.ts'
import { createPrivateFile, howPrivate, isPrivate } from './private-file.ts'

/** The keys of a database are not here. The message says where they were looked for. */
export class KeysError extends Error {
  override readonly name = 'KeysError'
}

/**
 * The key-encryption keys: of the key server, of TOLLGATE_KEYS, or of the key file. In the test environment a database
 * that holds nothing sealed gets a new key file; one that does never gets a new key silently,
 * because nothing in it could be opened with it.
 *
 * @throws KeysError · SettingsError when they are no keys
 */
export async function findKeys(
  settings: HostSettings,
  directory: string,
  isSealed: boolean,
  log: (line: string) => void,
): Promise<KeyProvider> {
  const path = settings.keyFile ?? join(directory, 'keys')
  const kept = await givenKeys(settings, path)
  if (settings.keyServerUrl !== undefined) {
    const server = await openKeyServer(settings, settings.keyServerUrl)
    if (kept === undefined) return server
    return settings.wrapWith === 'file' ? combinedKeys(kept, server) : combinedKeys(server, kept)
  }
  if (kept !== undefined) return kept
  if (isSealed) {
    throw new KeysError(
      `the keys of the database are missing: there is no ${path}. Set TOLLGATE_KEY_FILE to the file that holds them, or TOLLGATE_KEYS, or restore the file from a backup. Without its keys, the sealed data of this database cannot be opened.`,
    )
  }
  if (settings.environment === 'live') {
    throw new KeysError(
      `no keys: there is no ${path}, and TOLLGATE_KEYS is not set. A live installation never creates keys by itself. Run "tollgate keys make <id> --out <file>", set TOLLGATE_KEY_FILE to this file, and keep a copy of the key in a safe place.`,
    )
  }
  const key = makeKey(`test-${randomBytes(4).toString('hex')}`)
  const isCreated = await createPrivateFile(path, `${key}\n`).catch((thrown: unknown) => {
    throw new KeysError(
      `the key file ${path} cannot be created (${systemCode(thrown)}): set TOLLGATE_DATA_DIR to a folder where this user may write, or set TOLLGATE_KEYS`,
    )
  })
  if (isCreated) {
    log(`created the key file ${path}; the database cannot be opened without the file`)
  }
  return readKeys((await readKeyFile(path)) ?? '', path)
}

async function givenKeys(settings: HostSettings, path: string): Promise<KeyProvider | undefined> {
  if (settings.keys !== undefined) return readKeys(settings.keys, 'TOLLGATE_KEYS')
  const text = await readKeyFile(path)
  return text === undefined ? undefined : readKeys(text, path)
}

async function readKeyFile(path: string): Promise<string | undefined> {
  try {
    if (!(await isPrivate(path))) {
      throw new KeysError(
        `other users of this machine can read the key file ${path}; ${howPrivate}`,
      )
    }
    return await readFile(path, 'utf8')
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return undefined
    if (thrown instanceof KeysError) throw thrown
    throw new KeysError(`the key file ${path} cannot be read (${systemCode(thrown)})`)
  }
}

function readKeys(text: string, from: string): KeyProvider {
  try {
    return localKeys(text, from)
  } catch (thrown) {
    throw new SettingsError([`${from}: ${reasonOf(thrown)}`])
  }
}
