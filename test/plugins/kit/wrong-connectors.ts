/**
 * The example connector with one mistake at a time, as real connectors make them. Beside each are
 * the cases that must notice it, and no others may.
 */
import { createHash, randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import {
  approved,
  type Claim,
  type Connector,
  type Context,
  declined,
  type Http,
  HttpError,
  type Inbound,
  type Kind,
  type Money,
  notSent,
  type Operation,
  type Outcome,
  pending,
  settings,
  unknown,
} from '@tollgate/plugin-kit'
import { none, O, R, request, secret } from '@tollgate/schemas'
import { acquirerJson as right } from '../../../connectors/acquirer-json/index.ts'
import { lineFaults } from '../../../plugins/kit/testing/cases/line.ts'

export type Wrong = {
  /** The mistake, as the rest of "a connector that …". */
  readonly what: string
  readonly connector: Connector
  /** Names of the cases that must fail. */
  readonly noticed: readonly string[]
  /** Its handlers never end, so the suite waits in vain. */
  readonly isEndless?: true
}

const kinds = [
  'authorize',
  'debit',
  'credit',
  'verify',
  'capture',
  'refund',
  'reverse',
  'increment',
] as const satisfies readonly Kind[]
type Handler = (operation: Operation, context: Context) => Promise<Outcome>

/** The example with some parts replaced. */
const but = (parts: Partial<Connector>): Connector => ({ ...right, ...parts })

/** The example with every handler, or the named ones, wrapped. */
function around(put: (handler: Handler) => Handler, only: readonly Kind[] = kinds): Connector {
  return but(Object.fromEntries(only.map((kind) => [kind, put(right[kind]!)])))
}

/** Changes a handler's outcome. */
const saying = (
  change: (outcome: Outcome, operation: Operation) => Outcome,
  only?: readonly Kind[],
) =>
  around(
    (handler) => async (operation, context) => change(await handler(operation, context), operation),
    only,
  )

/** Turns a thrown error into an outcome. */
const catching = (
  turn: (error: unknown, operation: Operation) => Outcome | Promise<Outcome>,
  only?: readonly Kind[],
) =>
  around(
    (handler) => (operation, context) =>
      handler(operation, context).catch((error: unknown) => turn(error, operation)),
    only,
  )

/** Changes an operation before it is sent. */
const sending = (change: (operation: Operation) => Operation, only?: readonly Kind[]) =>
  around((handler) => (operation, context) => handler(change(operation), context), only)

type Request = Http['request']
type Wrap = (send: Request, operation: Operation) => Request

const contextOver = (context: Context, operation: Operation, wrap: Wrap): Context => {
  const send = wrap(context.http.request, operation)
  const http: Http = {
    request: send,
    get: (url, query, options) => send('GET', url, { ...options, query: { ...query } }),
    post: (url, json, options) => send('POST', url, { ...options, json }),
  }
  return { ...context, http }
}

/** Changes the requests of all or some handlers, or their answers. */
const overHttp = (wrap: Wrap, only?: readonly Kind[]) =>
  around(
    (handler) => (operation, context) => handler(operation, contextOver(context, operation, wrap)),
    only,
  )

const resolving = (parts: Partial<Connector['resolve']>): Connector =>
  but({ resolve: { ...right.resolve, ...parts } })
const enquiring = (enquire: NonNullable<Connector['resolve']['enquire']>) => resolving({ enquire })
const receiving = (parts: Partial<NonNullable<Connector['inbound']>>): Connector =>
  but({ inbound: { ...right.inbound!, ...parts } })
const claiming = (change: (claim: Claim, message: Inbound) => Claim): Connector =>
  receiving({
    parse: (message) => right.inbound!.parse(message).map((claim) => change(claim, message)),
  })

const numberOf = ({ instrument }: Operation): string =>
  instrument !== undefined && 'number' in instrument ? (instrument.number?.reveal() ?? '') : ''
const codeOf = (outcome: Outcome) => ('code' in outcome ? outcome.code : undefined)

/** Removes `moves`. */
const untagged: Wrap =
  (send) =>
  (method, url, { moves: _forgotten, ...options } = {}) =>
    send(method, url, options)

const requestedReversals = [
  'a reversal that the acquirer only took is requested, and is told as reversed',
  'a requested reversal that fails is told as not reversed',
]

/** The last operation, in a connector with state in its module. */
let last: Operation | undefined

const text = { kind: 'text', min: 1, max: 64 } as const
const least = (one: Money, other: Money): Money => (one.minor < other.minor ? one : other)

/** A connector that remembers its keys and sends a repeat under another one. */
function repeating(): Connector {
  const sent = new Set<string>()
  return overHttp((send, { key, kind }) => async (method, url, options = {}) => {
    const isRepeat = sent.has(key)
    if (kind === 'debit') sent.add(key)
    if (!isRepeat) return send(method, url, options)
    const own = randomBytes(16).toString('hex')
    const headers = { ...options.headers, 'idempotency-key': own }
    const answer = await send(method, url, { ...options, headers })
    return { ...answer, json: () => JSON.parse(answer.text().replaceAll(own, key)) }
  })
}

const open = (fault: string) => `a fault leaves the outcome unknown: ${fault}`
const allOpen = Object.keys(lineFaults).map(open)
const silences = [
  open('no answer in time, and the acquirer never got it'),
  open('no answer in time, though the acquirer did it'),
  open('half an answer, and then silence'),
]
const breaks = [
  ...silences,
  open('a reset before the acquirer got it'),
  open('a reset after the acquirer did it'),
  open('an answer that is cut off'),
  open('an answer without an end'),
]

/** Cases that need to recognise the moving request. */
const needingTag = (of: 'everything' | 'one kind'): readonly string[] => [
  ...allOpen,
  'a request that moves money is tagged before it is sent',
  'nothing moves after the time for sending',
  'a request is sent once, because the engine decides about retries',
  'an enquiry finds an operation whose answer was lost',
  ...(of === 'one kind'
    ? []
    : [
        'an unknown code is never an approval',
        'an approval for another amount or currency names it',
        'notSent is never returned after a request was written',
        'an answer is read byte by byte',
        'the answer to another payment is not accepted',
        'an enquiry about a delayed request returns notFound, and finds it after its arrival',
        'a reversal by key closes a key with a delayed request',
        'no output after a fault contains card data or credentials',
      ]),
]

export const wrongConnectors: readonly Wrong[] = [
  // Facts and settings.
  {
    what: 'has a name that no engine takes',
    connector: but({ name: 'Acquirer_JSON' }),
    noticed: ['the declaration of the connector is complete'],
  },
  {
    what: 'translates a code into a reason that does not exist',
    connector: but({ reasons: { '05': '800.999.999' as never } }),
    noticed: ['the declaration of the connector is complete'],
  },
  {
    what: 'keeps its key in a setting that everybody may read',
    connector: but({
      account: settings('Account', [
        ['merchantId', text, R, request, none, 'Id of the merchant.'],
        ['apiKey', text, R, request, none, 'Proves our requests.'],
        ['eventSecret', text, R, request, secret, 'Proves their events.'],
      ]),
    }),
    noticed: ['credentials are settings of class secret'],
  },
  {
    what: 'calls a setting optional that it cannot do without',
    connector: but({
      account: settings('Account', [
        ['merchantId', text, O, request, none, 'Id of the merchant.'],
        ['apiKey', text, R, request, secret, 'Proves our requests.'],
        ['eventSecret', text, R, request, secret, 'Proves their events.'],
      ]),
    }),
    noticed: ['settings are listed, and optional ones can be absent'],
  },
  {
    what: 'finds all credentials right',
    connector: but({ check: async () => ({ ok: true }) }),
    noticed: ['check distinguishes right credentials from wrong ones'],
  },

  // Outcomes.
  {
    what: 'does not know that a direct debit counts as done',
    connector: saying((outcome) => (outcome.is === 'accepted' ? unknown('submitted') : outcome)),
    noticed: ['an approval of the acquirer is approved'],
  },
  {
    what: 'declines everything for the same reason',
    connector: saying((outcome) => (outcome.is === 'declined' ? declined('800.100.100') : outcome)),
    noticed: ['a decline of the acquirer is declined with its reason'],
  },
  {
    what: 'declines with the code of a success',
    connector: saying((outcome) => (outcome.is === 'declined' ? declined('000.000.000') : outcome)),
    noticed: [
      'a decline of the acquirer is declined with its reason',
      'a capture above the authorisation is refused',
      'a refund above the payment is refused',
    ],
  },
  {
    what: 'approves what it does not know as a decline',
    connector: saying((outcome) =>
      outcome.is === 'declined' && outcome.reason === '800.100.100'
        ? approved(outcome.refs ?? {})
        : outcome,
    ),
    noticed: ['an unknown code is never an approval'],
  },
  {
    what: 'has no reason for a code that it does not know',
    connector: saying((outcome) =>
      outcome.is === 'declined' && outcome.reason === '800.100.100'
        ? { ...outcome, reason: undefined as never }
        : outcome,
    ),
    noticed: ['an unknown code is never an approval'],
  },
  {
    what: 'ignores that another amount was approved',
    connector: saying((outcome) => (outcome.is === 'approved' ? approved(outcome.refs) : outcome)),
    noticed: ['an approval for another amount or currency names it'],
  },
  {
    what: 'compares the amount and forgets the currency',
    connector: saying((outcome, { amount }) => {
      if (outcome.is !== 'approved' || outcome.amount?.minor !== amount.minor) return outcome
      return approved(outcome.refs)
    }),
    noticed: ['an approval for another amount or currency names it'],
  },
  {
    what: 'corrects another amount in an enquiry',
    connector: enquiring(async (operation, context) => {
      const found = await right.resolve.enquire!(operation, context)
      return found.is === 'approved' ? approved(found.refs) : found
    }),
    noticed: ['an approval for another amount or currency names it'],
  },
  {
    what: 'takes a payment under review for paid',
    connector: saying((outcome) =>
      outcome.is === 'pending' && typeof outcome.next === 'object' && 'poll' in outcome.next
        ? approved(outcome.refs ?? {})
        : outcome,
    ),
    noticed: ['a payment stays open as long as at the acquirer'],
  },
  {
    what: 'verifies by taking the money',
    connector: but({
      verify: (operation, context) => right.debit!({ ...operation, kind: 'debit' }, context),
    }),
    noticed: ['an instrument is verified without moving money'],
  },

  // Follow-ups.
  {
    what: 'captures the whole authorisation, whatever was asked for',
    connector: sending(
      (operation) => ({ ...operation, amount: operation.original!.amount }),
      ['capture'],
    ),
    noticed: [
      'an authorisation is captured in full and in part',
      'a capture above the authorisation is refused',
      'an authorisation is incremented and captured as a sum',
    ],
  },
  {
    what: 'quietly captures less than was asked for',
    connector: sending(
      (operation) => ({
        ...operation,
        amount: least(operation.amount, operation.original!.amount),
      }),
      ['capture'],
    ),
    noticed: [
      'a capture above the authorisation is refused',
      'an authorisation is incremented and captured as a sum',
    ],
  },
  {
    what: 'takes a capture of too much for done',
    connector: saying(
      (outcome, operation) =>
        codeOf(outcome) === 'capture-too-high' ? approved(operation.original!.refs) : outcome,
      ['capture'],
    ),
    noticed: ['a capture above the authorisation is refused'],
  },
  {
    what: 'refunds everything, whatever was asked for',
    connector: sending(
      (operation) => ({ ...operation, amount: operation.original!.amount }),
      ['refund'],
    ),
    noticed: ['a payment is refunded in full and in part', 'a refund above the payment is refused'],
  },
  {
    what: 'takes a refund of too much for done',
    connector: saying(
      (outcome, operation) =>
        codeOf(outcome) === 'refund-too-high' ? approved(operation.original!.refs) : outcome,
      ['refund'],
    ),
    noticed: ['a refund above the payment is refused'],
  },
  {
    what: 'reverses everything, whatever was asked for',
    connector: sending(
      (operation) => ({ ...operation, amount: operation.original!.amount }),
      ['reverse'],
    ),
    noticed: ['an authorisation is reversed in full and in part'],
  },
  {
    what: 'sends the new sum where the increase is wanted',
    connector: sending(
      ({ amount, original, ...operation }) => ({
        ...operation,
        original: original!,
        amount: { ...amount, minor: amount.minor + original!.amount.minor },
      }),
      ['increment'],
    ),
    noticed: [
      'an authorisation is incremented and captured as a sum',
      "every request that moves money carries the engine's key",
      'one key has one effect, however often it is sent',
      'an enquiry finds an approved operation',
    ],
  },

  // Keys and moving requests.
  {
    what: 'makes up a key of its own for each request',
    connector: overHttp((send, { key }) => async (method, url, options = {}) => {
      const own = randomBytes(16).toString('hex')
      const headers = { ...options.headers, 'idempotency-key': own }
      const answer = await send(method, url, { ...options, headers })
      return { ...answer, json: () => JSON.parse(answer.text().replaceAll(own, key)) }
    }),
    noticed: [
      "every request that moves money carries the engine's key",
      'one key has one effect, however often it is sent',
      'a used key is refused for another operation',
      'simultaneous payments do not affect each other',
      // An enquiry by the key finds nothing.
      'an approval for another amount or currency names it',
      'a payment stays open as long as at the acquirer',
      'an enquiry finds an approved operation',
      'an enquiry finds an operation whose answer was lost',
      'an enquiry about a delayed request returns notFound, and finds it after its arrival',
      'a reversal by key undoes an operation for good',
      'a reversal by key closes an unused key',
      'a reversal by key closes a key with a delayed request',
      'a payment is completed after the shopper paid',
      'a return that the browser posts tells the same',
      // The sandbox has no event about a key that never reached it.
      'an event of the acquirer makes one claim',
      'a forged event is not proven',
      'an event for another account is not proven',
      'a repeated or old event makes the same claim',
      'several events about one payment have ids of their own, in any order',
      'no claim contains card data or credentials',
    ],
  },
  {
    what: 'makes a new key when the same operation comes again',
    connector: repeating(),
    noticed: [
      'one key has one effect, however often it is sent',
      'a reversal by key undoes an operation for good',
    ],
  },
  {
    what: 'forgets moves: true',
    connector: overHttp(untagged),
    noticed: needingTag('everything'),
  },
  {
    what: 'forgets moves: true in its reversal by key',
    connector: resolving({
      reverseByKey: (operation, context) =>
        right.resolve.reverseByKey!(operation, contextOver(context, operation, untagged)),
    }),
    noticed: ['a request that moves money is tagged before it is sent'],
  },
  {
    what: 'forgets moves: true in refunds',
    connector: overHttp(untagged, ['refund']),
    noticed: needingTag('one kind'),
  },

  // The line.
  {
    what: 'takes every error for a decline',
    connector: catching(() => declined('800.100.100')),
    noticed: [
      ...breaks,
      'a refused connection proves that nothing was sent',
      'nothing moves after the time for sending',
    ],
  },
  {
    what: 'takes a refund that broke off for declined',
    connector: catching(() => declined('800.100.100'), ['refund']),
    noticed: [
      ...breaks,
      'a refused connection proves that nothing was sent',
      'nothing moves after the time for sending',
    ],
  },
  {
    what: 'takes what it cannot read for a decline',
    connector: saying((outcome) => (outcome.is === 'unknown' ? declined('800.100.100') : outcome)),
    noticed: [
      ...allOpen.filter((name) => !breaks.includes(name)),
      'the answer to another payment is not accepted',
    ],
  },
  {
    what: 'takes what it cannot read for approved',
    connector: saying((outcome) =>
      outcome.is === 'unknown' ? approved({ id: 'later' }) : outcome,
    ),
    noticed: [
      ...allOpen.filter((name) => !breaks.includes(name)),
      'the answer to another payment is not accepted',
    ],
  },
  {
    what: 'says notSent of everything that went wrong',
    connector: catching(() => notSent('it went wrong')),
    noticed: ['notSent is never returned after a request was written'],
  },
  {
    what: 'sends again after a time-out or a reset',
    connector: around(
      (handler) => (operation, context) =>
        handler(operation, context).catch(() => handler(operation, context)),
    ),
    noticed: ['a request is sent once, because the engine decides about retries'],
  },
  {
    what: 'sends again when the acquirer says HTTP 503',
    connector: overHttp((send) => async (method, url, options) => {
      const answer = await send(method, url, options)
      return answer.status === 503 ? send(method, url, options) : answer
    }),
    noticed: ['a request is sent once, because the engine decides about retries'],
  },
  {
    what: 'gives up on an answer that does not come at once',
    connector: overHttp((send) => async (method, url, options) => {
      const answer = send(method, url, options)
      answer.catch(() => {})
      const impatient = async () => {
        for (let turn = 0; turn < 150; turn += 1) await setImmediate()
        throw new HttpError('timeout', 'it takes too long', true)
      }
      return Promise.race([answer, impatient()])
    }),
    noticed: ['an answer is read byte by byte'],
  },
  {
    what: 'does not look which payment an answer is about',
    connector: overHttp((send, { key }) => async (method, url, options) => {
      const answer = await send(method, url, options)
      return { ...answer, json: () => ({ ...(answer.json() as object), reference: key }) }
    }),
    noticed: ['the answer to another payment is not accepted'],
  },
  {
    what: 'never ends after its time is over',
    connector: catching(
      (error) =>
        error instanceof HttpError && error.code === 'timeout'
          ? new Promise<Outcome>(() => {})
          : Promise.reject(error),
      ['credit'],
    ),
    isEndless: true,
    noticed: [
      ...silences,
      'an enquiry finds an operation whose answer was lost',
      'a request is sent once, because the engine decides about retries',
    ],
  },

  // Enquiry and reversal by key.
  {
    what: 'moves money with its enquiry, as far as the engine can see',
    connector: enquiring((operation, context) =>
      right.resolve.enquire!(
        operation,
        contextOver(
          context,
          operation,
          (send) => (method, url, options) => send(method, url, { ...options, moves: true }),
        ),
      ),
    ),
    noticed: ['an enquiry finds an approved operation'],
  },
  {
    what: 'forgets the reason in an enquiry',
    connector: enquiring(async (operation, context) => {
      const found = await right.resolve.enquire!(operation, context)
      return found.is === 'declined' ? declined('800.100.100') : found
    }),
    noticed: ['an enquiry finds a declined operation'],
  },
  {
    what: 'calls declined what the acquirer does not know yet',
    connector: enquiring(async (operation, context) => {
      const found = await right.resolve.enquire!(operation, context)
      return found.is === 'notFound' ? declined('900.100.400') : found
    }),
    noticed: [
      'an enquiry about an unused key returns notFound',
      'an enquiry about a delayed request returns notFound, and finds it after its arrival',
    ],
  },
  {
    what: 'finds nothing when its enquiry goes wrong',
    connector: enquiring(async (operation, context) => {
      try {
        const found = await right.resolve.enquire!(operation, context)
        return found.is === 'unknown' ? { is: 'notFound' } : found
      } catch {
        return { is: 'notFound' }
      }
    }),
    noticed: ['a broken answer to an enquiry proves nothing'],
  },
  {
    what: 'says reversed of what it never asked to be reversed',
    connector: resolving({ reverseByKey: async () => ({ is: 'reversed' }) }),
    noticed: [
      'a request that moves money is tagged before it is sent',
      'a reversal by key undoes an operation for good',
      'a reversal by key closes an unused key',
      'a reversal by key closes a key with a delayed request',
      'a broken answer to a reversal by key proves nothing',
      ...requestedReversals,
    ],
  },
  {
    what: 'reverses only what it finds, and leaves the key open',
    connector: resolving({
      reverseByKey: async (operation, context) => {
        const found = await right.resolve.enquire!(operation, context)
        if (found.is === 'notFound') return { is: 'nothing' }
        return right.resolve.reverseByKey!(operation, context)
      },
    }),
    noticed: [
      'a reversal by key closes an unused key',
      'a reversal by key closes a key with a delayed request',
    ],
  },
  {
    what: 'takes a reversal that went wrong for needless',
    connector: resolving({
      reverseByKey: async (operation, context) => {
        try {
          const reversed = await right.resolve.reverseByKey!(operation, context)
          return reversed.is === 'unknown' ? { is: 'nothing' } : reversed
        } catch {
          return { is: 'nothing' }
        }
      },
    }),
    noticed: ['a broken answer to a reversal by key proves nothing'],
  },

  // Reversals that are only requested.
  {
    what: 'takes a reversal that the acquirer only took for done',
    connector: resolving({
      reverseByKey: async (operation, context) => {
        const said = await right.resolve.reverseByKey!(operation, context)
        return said.is === 'requested' ? { is: 'reversed' } : said
      },
    }),
    noticed: requestedReversals,
  },
  {
    what: 'finds a success while it is taken back',
    connector: enquiring(async (operation, context) => {
      const found = await right.resolve.enquire!(operation, context)
      return found.is === 'requested' ? approved(found.refs ?? {}) : found
    }),
    noticed: requestedReversals,
  },
  {
    what: 'claims a reversal that failed as done',
    connector: claiming((claim) =>
      claim.outcome.is === 'notReversed' ? { ...claim, outcome: { is: 'reversed' } } : claim,
    ),
    noticed: ['a requested reversal that fails is told as not reversed'],
  },
  {
    what: 'claims the end of a reversal as a decline',
    connector: claiming((claim) =>
      claim.outcome.is === 'reversed' ? { ...claim, outcome: declined('900.100.301') } : claim,
    ),
    noticed: ['a reversal that the acquirer only took is requested, and is told as reversed'],
  },

  // The shopper comes back.
  {
    what: 'trusts the query string',
    connector: but({
      complete: async (operation, back, context) =>
        back.query.status === 'approved'
          ? approved(back.refs)
          : right.complete!(operation, back, context),
    }),
    noticed: ["a return of the shopper's browser proves nothing"],
  },
  {
    what: 'does not ask again when the shopper is back',
    connector: but({ complete: async () => pending('event') }),
    noticed: [
      'a payment is completed after the shopper paid',
      'a return that the browser posts tells the same',
    ],
  },
  {
    what: 'understands only links as returns',
    connector: but({
      complete: async (operation, back, context) =>
        back.method === 'GET' ? right.complete!(operation, back, context) : pending('event'),
    }),
    noticed: ['a return that the browser posts tells the same'],
  },
  {
    what: 'believes every form that is posted',
    connector: but({
      complete: async (operation, back, context) =>
        back.method === 'POST'
          ? approved({ id: 'from the form' })
          : right.complete!(operation, back, context),
    }),
    noticed: ["a return of the shopper's browser proves nothing"],
  },

  // Events.
  {
    what: 'accepts every event',
    connector: receiving({ verify: () => true }),
    noticed: [
      'a forged event is not proven',
      'an event for another account is not proven',
      'garbage is never an event',
    ],
  },
  {
    what: 'accepts an event without a signature',
    connector: receiving({
      verify: (message, context) =>
        !message.headers['x-bank-signature'] || right.inbound!.verify(message, context),
    }),
    noticed: ['a forged event is not proven', 'garbage is never an event'],
  },
  {
    what: 'gives an event another id each time',
    connector: claiming((claim) => ({ ...claim, eventId: randomBytes(8).toString('hex') })),
    noticed: ['a repeated or old event makes the same claim'],
  },
  {
    what: 'gives all events about a payment one id',
    connector: claiming((claim) => ({ ...claim, eventId: claim.key })),
    noticed: ['several events about one payment have ids of their own, in any order'],
  },
  {
    what: "names the payment by the acquirer's id",
    connector: claiming((claim) => ({
      ...claim,
      key: 'refs' in claim.outcome ? (claim.outcome.refs?.id ?? '') : '',
    })),
    noticed: ['an event of the acquirer makes one claim'],
  },
  {
    what: 'makes a claim of garbage',
    connector: receiving({
      parse: (message) => {
        try {
          return right.inbound!.parse(message)
        } catch {
          return [
            { eventId: '', key: '', outcome: approved({}), amount: { minor: 0n, currency: 'EUR' } },
          ]
        }
      },
    }),
    noticed: ['garbage is never an event'],
  },

  // Secrets.
  {
    what: 'keeps the card number as a reference',
    connector: saying((outcome, operation) =>
      outcome.is === 'declined' && numberOf(operation) !== ''
        ? { ...outcome, refs: { ...outcome.refs, card: numberOf(operation) } }
        : outcome,
    ),
    noticed: ['no output or record contains card data or credentials'],
  },
  {
    what: 'keeps a hash of the card number, which anybody can try out',
    connector: saying((outcome, operation) =>
      outcome.is === 'approved' && numberOf(operation) !== ''
        ? {
            ...outcome,
            memo: { card: createHash('sha256').update(numberOf(operation)).digest('hex') },
          }
        : outcome,
    ),
    noticed: ['no output or record contains card data or credentials'],
  },
  {
    what: 'logs the card number in groups of four',
    connector: around((handler) => (operation, context) => {
      context.log.info({ card: numberOf(operation).replaceAll(/(.{4})/g, '$1 ') }, 'paying')
      return handler(operation, context)
    }),
    noticed: [
      'no output or record contains card data or credentials',
      'no output after a fault contains card data or credentials',
    ],
  },
  {
    what: 'prints the security code',
    connector: around(
      (handler) => (operation, context) => {
        const { instrument } = operation
        if (instrument?.kind === 'card' && instrument.last4 === '0002') {
          console.debug('cvv', instrument.cvv?.reveal())
        }
        return handler(operation, context)
      },
      ['verify'],
    ),
    noticed: ['no output or record contains card data or credentials'],
  },
  {
    what: 'keeps the whole account with its key in its records',
    connector: around(
      (handler) => async (operation, context) => {
        await context.records.swap(operation.key, undefined, {
          ...(context.account as { apiKey: string }),
        })
        return handler(operation, context)
      },
      ['debit'],
    ),
    noticed: ['no output or record contains card data or credentials'],
  },
  {
    what: 'writes the card number into the error that it throws',
    connector: catching((error, operation) => {
      throw new Error(`${error} for card ${numberOf(operation)}`)
    }),
    noticed: ['no output after a fault contains card data or credentials'],
  },
  {
    what: 'sends the card number in the URL',
    connector: overHttp(
      (send, operation) => (method, url, options) =>
        send(method, `${url}?card=${numberOf(operation)}`, options),
      ['debit'],
    ),
    noticed: ['card data is sent where a transcript can omit it'],
  },
  {
    what: 'sends the card number in base64, where no transcript finds it',
    connector: overHttp(
      (send, operation) => (method, url, options) =>
        send(method, url, {
          ...options,
          json: {
            ...(options?.json as object),
            raw: Buffer.from(numberOf(operation)).toString('base64'),
          },
        }),
      ['debit'],
    ),
    noticed: ['card data is sent where a transcript can omit it'],
  },
  {
    what: 'puts the last card number into claims',
    connector: {
      ...around((handler) => (operation, context) => {
        last = operation
        return handler(operation, context)
      }),
      inbound: {
        ...right.inbound!,
        parse: (message) =>
          right.inbound!.parse(message).map((claim) => ({
            ...claim,
            outcome: {
              ...claim.outcome,
              memo: last === undefined ? '' : numberOf(last),
            } as Claim['outcome'],
          })),
      },
    },
    noticed: ['no claim contains card data or credentials'],
  },

  // Load.
  {
    what: 'keeps the operation in a variable of the module',
    connector: around(
      (handler) => async (operation, context) => {
        last = operation
        await setImmediate()
        return handler(last, context)
      },
      ['authorize'],
    ),
    noticed: ['simultaneous payments do not affect each other'],
  },
]
