/** A careless connector for the canary scan: it repeats its input in every possible place. */
import {
  approved,
  type Context,
  declined,
  defineConnector,
  definePlugin,
  type Operation,
  type Outcome,
  pending,
} from '@tollgate/plugin-kit'

export const canaryConnector = 'canary'
/** Environment variable with the address of an acquirer that echoes each request. */
export const echoVariable = 'CANARY_ECHO_URL'

const numberOf = ({ instrument }: Operation): string => {
  if (instrument?.kind === 'card') return instrument.number.reveal()
  return instrument?.kind === 'bankAccount' ? (instrument.iban?.reveal() ?? '') : ''
}

type Careless = (operation: Operation, context: Context) => Outcome | Promise<Outcome>

/** The behaviour for a payment, by the beginning of its merchantTransactionId. */
const ways: Readonly<Record<string, Careless>> = {
  throws(operation, context) {
    context.sending()
    const number = numberOf(operation)
    throw Object.assign(new Error(`cannot charge ${number}`), { name: `No ${number}`, number })
  },
  hangs(operation, context) {
    context.sending()
    // Kept as long as the promise, so that the scan of the heap can find it.
    const number = numberOf(operation)
    return new Promise((resolve) => {
      context.signal.addEventListener('abort', () =>
        resolve(declined('800.100.152', { text: number })),
      )
    })
  },
  echoes(operation, context) {
    context.sending()
    const number = numberOf(operation)
    const { instrument } = operation
    const cvv = instrument?.kind === 'card' ? (instrument.cvv?.reveal() ?? '') : ''
    return declined('800.100.152', {
      text: `account ${number} declined`,
      refs: { echo: number, cvv },
      details: { track: `${number}=3405`, [number]: number, cvv },
      code: number,
    })
  },
  remembers(operation, context) {
    context.sending()
    const number = numberOf(operation)
    return approved({ reference: `ref-${number}` }, { memo: { seen: [number, { number }] } })
  },
  /** Sends the shopper to a bank, and tells the bank and the log all that it knows. */
  async leaves(operation, context) {
    const { instrument, returnUrl } = operation
    const card =
      instrument?.kind === 'card' ? { number: instrument.number, cvv: instrument.cvv } : {}
    const url = String(process.env[echoVariable])
    await context.http.post(url, { card, returnUrl }, { moves: true })
    const { transcript } = context as unknown as { transcript(): unknown }
    context.log.info({ transcript: JSON.stringify(transcript.call(context)) }, 'a shopper left')
    return pending({ redirect: { url: 'https://bank.example/', method: 'GET' } })
  },
  async asks(operation, context) {
    const { instrument } = operation
    const card =
      instrument?.kind === 'card' ? { number: instrument.number, cvv: instrument.cvv } : {}
    const answer = await context.http.post(
      String(process.env[echoVariable]),
      { card },
      { moves: true },
    )
    const { transcript } = context as unknown as { transcript(): unknown }
    context.log.info(
      { card: JSON.stringify(card), transcript: JSON.stringify(transcript.call(context)) },
      'the acquirer was asked',
    )
    return declined('800.100.152', { text: answer.text() })
  },
}

const debit = async (operation: Operation, context: Context): Promise<Outcome> => {
  const way = ways[operation.merchantTransactionId?.split('-')[0] ?? '']
  if (way !== undefined) return way(operation, context)
  context.sending()
  return approved({ reference: `ref-${operation.key}` })
}

export default definePlugin({
  name: canaryConnector,
  contract: 1,
  connectors: [
    defineConnector({
      name: canaryConnector,
      title: 'Canary',
      contract: 1,
      supports: {
        brands: 'any',
        currencies: 'any',
        methods: ['card', 'bankAccount'],
        key: { by: 'none' },
        enquiryVisibleAfterMs: 0,
      },
      debit,
      resolve: { enquire: async () => ({ is: 'unknown', why: 'nobody knows' }) },
    }),
  ],
})
