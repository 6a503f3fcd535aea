import { readFile } from 'node:fs/promises'
import { type KeyProvider, transitKeys } from '@tollgate/core'
import { type HostSettings, SettingsError, splitList } from '../config/read-settings.ts'
import { reasonOf, systemCode } from '../thrown.ts'

/**
 * The key server that the settings name.
 *
 * @throws SettingsError when it cannot be used as they say
 */
export async function openKeyServer(settings: HostSettings, url: string): Promise<KeyProvider> {
  const { keyServerTokenFile: tokenFile, keyServerToken: token = '' } = settings
  const allowed = splitList(settings.keyServerAllow ?? '')
  const ca =
    settings.keyServerCaFile === undefined
      ? []
      : [await readText(settings.keyServerCaFile, 'TOLLGATE_KEY_SERVER_CA_FILE')]
  // Also read now, so that a file that is missing is told by its name.
  if (tokenFile !== undefined) await readText(tokenFile, 'TOLLGATE_KEY_SERVER_TOKEN_FILE')
  try {
    return transitKeys({
      url,
      key: settings.keyServerKey,
      mount: settings.keyServerMount,
      token: tokenFile === undefined ? token : () => readFile(tokenFile, 'utf8'),
      allow: allowed.filter((entry) => entry !== 'loopback'),
      allowLoopback: allowed.includes('loopback'),
      ca,
      timeoutMs: settings.keyServerTimeoutMs,
      name: `the key server ${new URL(url).origin} (TOLLGATE_KEY_SERVER_URL)`,
      ...(settings.keyServerNamespace !== undefined && { namespace: settings.keyServerNamespace }),
    })
  } catch (thrown) {
    throw new SettingsError([`TOLLGATE_KEY_SERVER_*: ${reasonOf(thrown)}`])
  }
}

async function readText(path: string, from: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (thrown) {
    throw new SettingsError([
      `${from} is "${path}": the file cannot be read (${systemCode(thrown)})`,
    ])
  }
}
