import { databaseFrom } from '../config/database-settings.ts'
import { type PodSetting, placeOf } from '../config/pod-settings.ts'
import type { HostSettings } from '../config/read-settings.ts'
import { reach } from '../serve/database.ts'
import { podFacts } from '../serve/store.ts'
import type { Shell } from '../shell.ts'
import { reasonOf } from '../thrown.ts'
import { type Command, jsonOption, printList } from './command.ts'
import { allSettingsFor } from './settings.ts'

type ListedPod = {
  readonly number: number
  readonly name: string
  /** Without user and password. */
  readonly database: string
  readonly state: string
  /** Whether a start would find it well. */
  readonly isUsable: boolean
  /** Absent where the database says nothing. */
  readonly merchants?: number
}

const podListCommand: Command = {
  name: 'pod list',
  summary:
    'List the pods of the settings, whether their databases answer, and how many merchants each has. Exits with 1 unless every database answers as its pod.',
  options: jsonOption,
  async run(given, shell) {
    const settings = await allSettingsFor(given, shell)
    const listed = await Promise.all(settings.pods.map((pod) => stateOf(pod, settings, shell)))
    printList(given, shell, listed, {
      head: ['NUMBER', 'NAME', 'DATABASE', 'MERCHANTS', 'STATE'],
      cells: ({ number, name, database, merchants, state }) => [
        ...[String(number), name, database],
        ...[merchants === undefined ? '' : String(merchants), state],
      ],
      none: 'the settings name no pods: the installation has one database',
    })
    return listed.every(({ isUsable }) => isUsable) ? 0 : 1
  },
}

async function stateOf(
  { number, name, database }: PodSetting,
  settings: HostSettings,
  { folder }: Shell,
): Promise<ListedPod> {
  const listed = { number, name, database: placeOf(database) }
  try {
    const title = listed.database
    const options = databaseFrom(settings, database, folder)
    const facts = await reach({ title }, () => podFacts(options))
    if (facts === undefined)
      return { ...listed, isUsable: true, state: 'new: it was never started' }
    const { pod, merchants } = facts
    const state = pod === number ? 'ready' : `wrong: the database belongs to pod ${pod}`
    return { ...listed, isUsable: pod === number, merchants, state }
  } catch (thrown) {
    return { ...listed, isUsable: false, state: `away: ${reasonOf(thrown)}` }
  }
}

export const commands: readonly Command[] = [podListCommand]
