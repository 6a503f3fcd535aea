import { type Command, needed, print, UsageError, withInstallation } from './command.ts'
import { byOption, decidedBy, reasonOption } from './decide.ts'
import { told } from './inspect.ts'

const enquire: Command = {
  name: 'payment enquire',
  summary: 'Ask the acquirer now what became of an open payment; sends and reverses nothing.',
  words: ['<id>'],
  options: { ...reasonOption, ...byOption },
  notes:
    'The question is asked from here, with the settings found here. Exits with 2 when the payment is still open.',
  async run(given) {
    const [id = ''] = given.words
    const decided = decidedBy(given, 'asked by hand')
    return withInstallation(given, {}, async ({ gateway }) => {
      const { state, text } = await told(() => gateway.operator.enquire(id, decided))
      print(text)
      return state === 'approved' || state === 'declined' || state === 'expired' ? 0 : 2
    })
  },
}

const settle: Command = {
  name: 'payment settle',
  summary: 'Decide an open payment by hand, after the acquirer showed what became of it.',
  words: ['<id>'],
  options: {
    as: { type: 'string', value: 'outcome', meaning: 'approved or declined.' },
    ...reasonOption,
    ...byOption,
  },
  notes:
    'Only a payment that the engine could not decide and that nobody works on now. Sends nothing: a decision is only put on record. Declined is told to clients as 900.100.300.',
  async run(given) {
    const [id = ''] = given.words
    const as = needed(given, 'as')
    if (as !== 'approved' && as !== 'declined') {
      throw new UsageError(`--as must be approved or declined, not "${as}"`)
    }
    const decided = decidedBy(given)
    return withInstallation(given, {}, async ({ gateway }) => {
      print((await told(() => gateway.operator.settle(id, as, decided))).text)
      return 0
    })
  },
}

const redrive: Command = {
  name: 'payment redrive',
  summary: "Queue the engine's own work on a payment or an execution again.",
  words: ['<id>'],
  options: { ...reasonOption, ...byOption },
  notes:
    'A worker does it: it asks before it acts, and never sends under another key. Also for jobs that ran out of tries.',
  async run(given) {
    const [id = ''] = given.words
    const decided = decidedBy(given, 'queued by hand')
    return withInstallation(given, {}, async ({ gateway }) => {
      print((await told(() => gateway.operator.redrive(id, decided))).text)
      return 0
    })
  },
}

const reverseChargeback: Command = {
  name: 'payment reverse-chargeback',
  summary: 'Say that a chargeback was given back, where no message of the acquirer does.',
  words: ['<chargeback>'],
  options: { ...reasonOption, ...byOption },
  notes:
    'Sends nothing: what stands of the chargeback is recorded as reversed. Given the id of a payment it names the chargebacks of it that stand.',
  async run(given) {
    const [id = ''] = given.words
    const decided = decidedBy(given)
    return withInstallation(given, {}, async ({ gateway }) => {
      print((await told(() => gateway.operator.reverseChargeback(id, decided))).text)
      return 0
    })
  },
}

export const paymentCommands: readonly Command[] = [enquire, settle, redrive, reverseChargeback]
