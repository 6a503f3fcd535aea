import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { reasonOf } from '../thrown.ts'
import { loadOwnModules } from './own-modules.ts'
import { SettingsError } from './read-settings.ts'

const names = ['tollgate.config.ts', 'tollgate.config.js', 'tollgate.config.mjs'] as const

export type ConfigFile = {
  /** As the reader knows it: relative to the folder she stands in. */
  readonly path: string
  readonly config: Readonly<Record<string, unknown>>
}

/**
 * The configuration file of a folder, or the one that was named; undefined when there is none.
 *
 * @throws SettingsError when a named file is missing or a file cannot be used.
 */
export async function readConfigFile(
  folder: string,
  named?: string,
): Promise<ConfigFile | undefined> {
  const found =
    named === undefined ? names.filter((name) => existsSync(resolve(folder, name))) : [named]
  const [name, other] = found
  if (name === undefined) return undefined
  if (other !== undefined) {
    throw new SettingsError([`found ${found.join(' and ')}: keep only one configuration file`])
  }
  const path = resolve(folder, name)
  const shown = relative(folder, path) || path
  if (!existsSync(path)) throw new SettingsError([`the configuration file ${path} does not exist`])
  let module: { readonly default?: unknown }
  try {
    loadOwnModules(folder)
    module = await import(pathToFileURL(path).href)
  } catch (thrown) {
    throw new SettingsError([`${shown} cannot be loaded: ${reasonOf(thrown)}`])
  }
  const config = module.default
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new SettingsError([
      `${shown} exports no settings: expected "export default defineConfig({ … })"`,
    ])
  }
  return { path: shown, config: config as Readonly<Record<string, unknown>> }
}
