import { searchedDays as defaultDays, stepView } from '@tollgate/core'
import type { Shell } from '../shell.ts'
import { type Command, columns, print, UsageError } from './command.ts'
import { shownJson, shownTime } from './shown-text.ts'
import { timeline } from './timeline.ts'
import { withInstallation } from './with-installation.ts'

const inspectCommand: Command = {
  name: 'inspect',
  summary: 'Show the steps of a payment, registration, schedule, execution or notification.',
  words: ['<id>'],
  options: {
    verbose: { type: 'boolean', meaning: 'Also show requests and responses.' },
    json: { type: 'boolean', meaning: 'Print all details as JSON.' },
    days: {
      type: 'string',
      value: 'number',
      meaning: `How many days to search for short ids and references. Default: ${defaultDays}.`,
    },
  },
  notes:
    'Instead of an id, you can give a shortId, a merchantTransactionId, the key of an attempt, or the ndc (X-Request-Id) of the response to the request that made the payment.\nTimes are relative to the first step, by the clock of the database. Card numbers, secrets and personal data are never shown.',
  async run(given, shell) {
    const [reference = ''] = given.words
    const days = Number(given.options.days ?? defaultDays)
    if (!Number.isInteger(days) || days < 1 || days > 36_500) {
      throw new UsageError('--days must be a whole number from 1 to 36500')
    }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const found = await gateway.inspect(reference, { days })
      const isJson = given.flags.has('json')
      if ('candidates' in found) {
        if (isJson) print(shell, shownJson(found, 2))
        else {
          print(shell, `${found.candidates.length} payments have ${reference}, the newest first:`)
          const rows = found.candidates.map(({ id, at, text }) => [`  ${id}`, shownTime(at), text])
          for (const line of columns(rows)) print(shell, line)
        }
        return 0
      }
      const steps = found.steps.map(stepView)
      if (isJson) print(shell, shownJson({ ...found, steps }, 2))
      else {
        const shown = { verbose: given.flags.has('verbose'), colours: coloured(shell) }
        for (const line of timeline(found, steps, shown)) print(shell, line)
      }
      return 0
    })
  },
}

const coloured = ({ stdout, env }: Shell): boolean =>
  stdout.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'

export const commands: readonly Command[] = [inspectCommand]
