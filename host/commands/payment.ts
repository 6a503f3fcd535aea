import type { TransactionView } from '@tollgate/core'
import {
  type Command,
  type Given,
  jsonOption,
  needed,
  print,
  printList,
  tell,
  UsageError,
} from './command.ts'
import { byOption, decidedBy, ownReasonOption, reasonOption } from './decide.ts'
import { momentOf, sinceOption } from './merchant-api.ts'
import { shownTime } from './shown-text.ts'
import { found, withInstallation } from './with-installation.ts'

const absent = (id: string) => `there is no payment ${id}`

/** Of commands that find a payment as `inspect` does. */
const anyNumber = 'Takes the same numbers of a payment as tollgate inspect.'

const mostPayments = 100
const dayMs = 86_400_000

const list: Command = {
  name: 'payment list',
  summary: 'List payments and their follow-ups, newest first.',
  options: {
    entity: {
      type: 'string',
      value: 'id',
      meaning: 'Only payments of this entity and the entities below it.',
    },
    order: {
      type: 'string',
      value: 'text',
      meaning: 'Only payments with this merchantTransactionId, of any time.',
    },
    since: { ...sinceOption, meaning: `Start: ${sinceOption.meaning} Default: 1d.` },
    types: {
      type: 'string',
      value: 'list',
      meaning: 'Payment types, separated by commas: PA, DB, RF. Default: all.',
    },
    ...jsonOption,
  },
  notes: `At most ${mostPayments}. tollgate inspect <id> shows the steps of one.`,
  async run(given, shell) {
    const { entity, order, since = '1d', types } = given.options
    if (order !== undefined && given.options.since !== undefined) {
      throw new UsageError(
        '--order and --since exclude each other: an order has payments of any time',
      )
    }
    const now = Date.now()
    const from = momentOf(since, now)
    const request = {
      ...(order === undefined
        ? {
            date: {
              from: from.length === 10 ? `${from} 00:00:00` : from,
              to: shownTime(new Date(now + dayMs)),
            },
          }
        : { merchantTransactionId: order }),
      ...(entity === undefined ? {} : { entityId: entity }),
      ...(types === undefined ? {} : { paymentTypes: types.toUpperCase() }),
    }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const listed: TransactionView[] = []
      for await (const one of gateway.query.all(request as never)) {
        if (listed.length === mostPayments) {
          tell(shell, 'there are more: choose an --entity, --types or a later --since')
          break
        }
        listed.push(one)
      }
      printList(given, shell, listed, {
        none: order === undefined ? `no payments since ${from}` : `no payments of order ${order}`,
        cells: (one) => [
          ...[shownTime(one.timestamp), one.id, one.paymentType ?? ''],
          ...[`${one.amount ?? ''} ${one.currency ?? ''}`, one.result.code],
          one.merchantTransactionId ?? '',
        ],
      })
      return 0
    })
  },
}

const enquire: Command = {
  name: 'payment enquire',
  summary: 'Ask the acquirer now for the outcome of an open payment. Moves no money.',
  words: ['<payment>'],
  options: { ...ownReasonOption, ...byOption },
  notes: `${anyNumber} The enquiry goes out from this machine, with the settings found here. Exits with 2 if the payment is still open.`,
  async run(given, shell) {
    const [id = ''] = given.words
    const decided = decidedBy(given, 'enquired by hand')
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const { state, text } = await found(absent(id), gateway.operator.enquire(id, decided))
      print(shell, text)
      return state === 'approved' || state === 'declined' || state === 'expired' ? 0 : 2
    })
  },
}

const settle: Command = {
  name: 'payment settle',
  summary: "Settle an open payment by hand, according to the acquirer's records.",
  words: ['<payment>'],
  options: {
    as: { type: 'string', value: 'outcome', meaning: 'approved or declined.', isRequired: true },
    references: {
      type: 'string',
      value: 'name=value,…',
      meaning:
        "The acquirer's references of the payment, under the names of its connector: later captures and refunds need them.",
    },
    ...reasonOption,
    ...byOption,
  },
  notes: `${anyNumber} Works only if the engine could not decide the payment and no process works on it now. Moves no money. Clients see declined as 900.100.300. With --references, approved also adds references that an approved payment lacks, and replaces those that an operator gave. Those of the acquirer stay, and the acquirer replaces those of an operator. Tollgate cannot check whose references they are, so take them from the payment at the acquirer.`,
  async run(given, shell) {
    const [id = ''] = given.words
    const as = needed(given, 'as')
    if (as !== 'approved' && as !== 'declined') {
      throw new UsageError(`--as must be approved or declined, not "${as}"`)
    }
    const decided = { ...decidedBy(given), ...referencesIn(given) }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      print(shell, (await found(absent(id), gateway.operator.settle(id, as, decided))).text)
      return 0
    })
  },
}

/** @throws UsageError */
function referencesIn({ options }: Given): { references?: Record<string, string> } {
  const { references } = options
  if (references === undefined) return {}
  const pairs = references.split(',').map((pair) => {
    const [name = '', ...value] = pair.split('=')
    if (name === '' || value.length === 0 || value.join('=') === '') {
      throw new UsageError('--references must be name=value, separated by commas')
    }
    return [name.trim(), value.join('=').trim()]
  })
  return { references: Object.fromEntries(pairs) }
}

const redrive: Command = {
  name: 'payment redrive',
  summary: "Queue the engine's job for a payment or an execution again.",
  words: ['<payment>'],
  options: { ...ownReasonOption, ...byOption },
  notes: `${anyNumber} A worker runs the job. The job enquires before it acts and never sends under a new key. Also restarts jobs that used up their retries.`,
  async run(given, shell) {
    const [id = ''] = given.words
    const decided = decidedBy(given, 'queued by hand')
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      print(shell, (await found(absent(id), gateway.operator.redrive(id, decided))).text)
      return 0
    })
  },
}

const reverseChargeback: Command = {
  name: 'payment reverse-chargeback',
  summary: 'Record the reversal of a chargeback that the acquirer does not report.',
  words: ['<chargeback>'],
  options: { ...reasonOption, ...byOption },
  notes:
    'Moves no money: records the unreversed rest of the chargeback as reversed. With the id of a payment, the command lists the unreversed chargebacks of that payment.',
  async run(given, shell) {
    const [id = ''] = given.words
    const decided = decidedBy(given)
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      print(shell, (await found(absent(id), gateway.operator.reverseChargeback(id, decided))).text)
      return 0
    })
  },
}

export const commands: readonly Command[] = [list, enquire, settle, redrive, reverseChargeback]
