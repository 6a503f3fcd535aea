import { readConfigFile } from '../config/config-file.ts'
import { settingsForPod } from '../config/pod-settings.ts'
import { type HostSettings, readSettings } from '../config/read-settings.ts'
import type { Shell } from '../shell.ts'
import { type Given, UsageError } from './command.ts'

/**
 * The settings for a command on one database.
 *
 * @throws UsageError when the settings name pods, and the command none of them.
 */
export async function settingsFor(
  given: Given,
  shell: Shell,
  settingOptions: readonly (keyof HostSettings & string)[] = [],
): Promise<HostSettings> {
  const all = await allSettingsFor(given, shell, settingOptions)
  const settings = settingsForPod(all, given.options.pod)
  if (typeof settings === 'string') throw new UsageError(settings)
  return settings
}

/** The settings for a command on the whole installation: its own options, environment, file, defaults. */
export async function allSettingsFor(
  given: Given,
  { env, folder }: Shell,
  settingOptions: readonly (keyof HostSettings & string)[] = [],
): Promise<HostSettings> {
  const file = await readConfigFile(folder, given.options.config)
  const options = Object.fromEntries(
    settingOptions.flatMap((name) => {
      const value = given.options[name]
      return value === undefined ? [] : [[name, { from: `--${name}`, value }]]
    }),
  )
  return readSettings({ environment: env, options, ...(file === undefined ? {} : { file }) })
}
