import { createRequire } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from '@tollgate/plugin-kit'
import { reasonOf, systemCode } from '../thrown.ts'
import { type HostSettings, SettingsError } from './read-settings.ts'

const simulator = '@tollgate/connector-simulator'

/**
 * The plugins in the settings, and the simulator in the test environment. The engine checks the
 * plugins themselves.
 *
 * @param folder base folder for package names: the project's.
 * @throws SettingsError naming each package that cannot be loaded.
 */
export async function loadPlugins(
  settings: Pick<HostSettings, 'plugins' | 'environment'>,
  folder: string,
): Promise<Plugin[]> {
  const problems: string[] = []
  const plugins: Plugin[] = []
  for (const entry of settings.plugins) {
    if (typeof entry !== 'string') {
      plugins.push(entry)
      continue
    }
    try {
      plugins.push(await load(entry, folder))
    } catch (thrown) {
      problems.push(`plugin "${entry}" cannot be loaded: ${reasonOf(thrown)}`)
    }
  }
  if (problems.length > 0) throw new SettingsError(problems)
  const hasSimulator = plugins.some((plugin) => plugin?.name === 'simulator')
  if (settings.environment === 'test' && !hasSimulator) {
    plugins.unshift((await import('@tollgate/connector-simulator')).default)
  }
  return plugins
}

async function load(name: string, folder: string): Promise<Plugin> {
  const module: { readonly default?: unknown } = await import(addressOf(name, folder))
  const plugin = module.default
  if (typeof plugin !== 'object' || plugin === null) {
    throw new Error('its default export is not a plugin: expected definePlugin({ … })')
  }
  return plugin as Plugin
}

/** Packages are the project's own, not those that happen to lie beside this one. */
function addressOf(name: string, folder: string): string {
  if (name === simulator) return name
  try {
    const path = createRequire(join(folder, 'package.json')).resolve(name)
    if (isAbsolute(path)) return pathToFileURL(path).href
  } catch (thrown) {
    if (systemCode(thrown) !== 'MODULE_NOT_FOUND') throw thrown
  }
  throw new Error(`no such package in ${folder}: install the package or correct its name`)
}
