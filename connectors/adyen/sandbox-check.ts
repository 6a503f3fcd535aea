/**
 * Runs scenes of the sandbox against Adyen's own test system: `npm run sandbox-check -w connectors/adyen`. It needs the
 * network, and the credentials of a test account in the environment. It moves test money only.
 */
import { randomBytes } from 'node:crypto'
import {
  type Context,
  type Http,
  type Operation,
  type Outcome,
  Sensitive,
} from '@tollgate/plugin-kit'
import { adyen } from './index.ts'
import { card, cards, declinedHolder } from './sandbox/sandbox.ts'

const {
  ADYEN_API_KEY: apiKey,
  ADYEN_MERCHANT_ACCOUNT: merchantAccount,
  ADYEN_HMAC_KEY: hmacKeys = '0'.repeat(64),
} = process.env

if (apiKey === undefined || merchantAccount === undefined) {
  console.error(
    'This check needs the network and a test account at Adyen: set ADYEN_API_KEY and ADYEN_MERCHANT_ACCOUNT. ' +
      'Without them, "npm test -- connectors/adyen" runs the same scenes against the sandbox of this package.',
  )
  process.exit(2)
}

const url = 'https://checkout-test.adyen.com/v71'
const records = new Map<string, string>()

/** JSON with the card in it: only for a program that keeps nothing. */
const written = (json: unknown): string =>
  JSON.stringify(json, function (this: Record<string, unknown>, name) {
    const value = this[name]
    return Sensitive.is(value) ? value.reveal() : value
  })

const post: Http['post'] = async (to, json, options = {}) => {
  const answer = await fetch(to, {
    method: 'POST',
    redirect: 'error',
    headers: { 'content-type': 'application/json', ...(options.headers as Record<string, string>) },
    body: written(json),
  })
  const body = Buffer.from(await answer.arrayBuffer())
  const text = () => body.toString('utf8')
  return {
    status: answer.status,
    headers: {},
    body,
    text,
    json: () => JSON.parse(text()) as unknown,
  }
}

const context = {
  http: { post },
  config: { url },
  account: { apiKey, merchantAccount, hmacKeys },
  mode: 'EXTERNAL',
  records: {
    get: async (key: string) => {
      const text = records.get(key)
      return text === undefined ? undefined : JSON.parse(text)
    },
    swap: async (key: string, expected: unknown, value: unknown) => {
      const before = expected === undefined ? undefined : JSON.stringify(expected)
      if (records.get(key) !== before) return false
      records.set(key, JSON.stringify(value))
      return true
    },
  },
  log: { info() {}, warn() {} },
} as unknown as Context

const amount = { minor: 9200n, currency: 'EUR' }

const first = (
  kind: 'authorize' | 'debit' | 'verify',
  number: string,
  holder?: string,
): Operation => ({
  kind,
  paymentId: randomBytes(16).toString('hex'),
  key: randomBytes(16).toString('hex'),
  amount,
  brand: 'VISA',
  instrument: card(number, holder),
  request: {},
  shortId: '0000.0000.0000',
  merchantTransactionId: `sandbox-check-${Date.now()}`,
  returnUrl: 'https://shop.example/return',
})

const on = (
  kind: 'capture' | 'refund' | 'reverse' | 'increment',
  original: Operation,
  outcome: Outcome,
): Operation => ({
  kind,
  paymentId: randomBytes(16).toString('hex'),
  key: randomBytes(16).toString('hex'),
  amount: kind === 'increment' ? { ...amount, minor: 800n } : amount,
  request: {},
  shortId: '0000.0000.0000',
  original: {
    paymentId: original.paymentId,
    kind: original.kind,
    key: original.key,
    amount,
    refs: 'refs' in outcome ? (outcome.refs ?? {}) : {},
    ...(kind === 'increment' ? { authorised: amount, increasing: { ...amount, minor: 800n } } : {}),
  },
})

let failures = 0

function expect(scene: string, is: string, wanted: string): void {
  const fits = is === wanted
  if (!fits) failures += 1
  console.log(
    `${fits ? 'ok      ' : 'not ok  '} ${scene}: ${is}${fits ? '' : `, and not ${wanted}`}`,
  )
}

const run = (operation: Operation) => adyen[operation.kind]!(operation, context)

async function main(): Promise<void> {
  expect('the account is checked', String((await adyen.check!(context)).ok), 'true')
  for (const kind of ['authorize', 'debit', 'verify'] as const) {
    expect(
      `${kind} by a card that is approved`,
      (await run(first(kind, cards.approved))).is,
      'approved',
    )
  }
  expect(
    'a card that is declined',
    (await run(first('debit', cards.approved, declinedHolder))).is,
    'declined',
  )
  expect('a card that needs its shopper', (await run(first('debit', cards.redirect))).is, 'pending')

  const authorised = first('authorize', cards.approved)
  const outcome = await run(authorised)
  expect('the same key again', (await run(authorised)).is, outcome.is)
  expect('an increase is taken', (await run(on('increment', authorised, outcome))).is, 'pending')
  const capture = on('capture', authorised, outcome)
  const captured = await run(capture)
  expect('a capture is taken', captured.is, 'accepted')
  expect('a refund is taken', (await run(on('refund', capture, captured))).is, 'accepted')
  const cancelled = first('authorize', cards.approved)
  expect(
    'a cancellation is taken',
    (await run(on('reverse', cancelled, await run(cancelled)))).is,
    'accepted',
  )
  const undone = first('authorize', cards.approved)
  await run(undone)
  const { reverseByKey } = adyen.resolve
  expect('a reversal by key is taken', (await reverseByKey!(undone, context)).is, 'requested')
  const wrong = { ...context, account: { ...context.account, apiKey: 'x'.repeat(40) } } as Context
  expect('a wrong key is refused', String((await adyen.check!(wrong)).ok), 'false')

  console.log(
    failures === 0 ? 'Every scene ended as in the sandbox.' : `${failures} scenes ended otherwise.`,
  )
  console.log(
    'Webhooks and reports are not checked here: they need an address that Adyen can reach.',
  )
  process.exitCode = failures === 0 ? 0 : 1
}

void main()
