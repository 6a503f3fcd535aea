/** Leaks of card data and credentials. */
import { createHash } from 'node:crypto'
import type { Claim, Connector, Context, Operation } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import {
  around,
  but,
  catching,
  overHttp,
  receiving,
  resolving,
  saying,
  type Wrong,
} from './changed-connector.ts'

const numberOf = ({ instrument }: Operation): string =>
  instrument !== undefined && 'number' in instrument ? (instrument.number?.reveal() ?? '') : ''

/** The last operation, in a connector with state in its module. */
let last: Operation | undefined

const log = ({ account, log }: Context) => log.info({ account: JSON.stringify(account) }, 'at work')

/** The whole account in the log of one handler, or a secret of it in what the handler says. */
const tellers: readonly (readonly [string, Connector])[] = [
  [
    'logs its account at captures and refunds',
    around(
      (handler) => (operation, context) => {
        log(context)
        return handler(operation, context)
      },
      ['capture', 'refund'],
    ),
  ],
  [
    'logs its account at enquiries',
    resolving({
      enquire(operation, context) {
        log(context)
        return right.resolve.enquire!(operation, context)
      },
    }),
  ],
  [
    'logs its account at reversals by key',
    resolving({
      reverseByKey(operation, context) {
        log(context)
        return right.resolve.reverseByKey!(operation, context)
      },
    }),
  ],
  [
    'logs its account when the shopper is back',
    but({
      complete(operation, back, context) {
        log(context)
        return right.complete!(operation, back, context)
      },
    }),
  ],
  [
    'logs its account when it verifies a message',
    receiving({
      verify(message, context) {
        log(context)
        return right.inbound!.verify(message, context)
      },
    }),
  ],
  [
    'logs its account when it reads a message',
    receiving({
      parse(message, context) {
        log(context)
        return right.inbound!.parse(message, context)
      },
    }),
  ],
  [
    'replies to a message with its secret',
    receiving({ reply: (_message, { account }) => ({ body: `stored ${account.eventSecret}` }) }),
  ],
  [
    'logs its account at the check of credentials',
    but({
      check(context) {
        log(context)
        return right.check!(context)
      },
    }),
  ],
  [
    'quotes refused credentials',
    but({
      async check(context) {
        const answer = await right.check!(context)
        return answer.ok === false ? { ...answer, why: `not ${context.account.apiKey}` } : answer
      },
    }),
  ],
]

export const secretMistakes: readonly Wrong[] = [
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
  ...Object.entries({
    'in clear text': (number: string) => number,
    'in groups of four': (number: string) => number.replaceAll(/(.{4})/g, '$1 '),
    'in base64': (number: string) => Buffer.from(`card ${number}`).toString('base64'),
  }).map(([how, spelt]) => ({
    what: `writes the card number ${how} into the text of a decline`,
    connector: saying((outcome, operation) =>
      outcome.is === 'declined' && numberOf(operation) !== ''
        ? { ...outcome, text: `declined: ${spelt(numberOf(operation))}` }
        : outcome,
    ),
    noticed: ['no output or record contains card data or credentials'],
  })),
  ...tellers.map(([what, connector]) => ({
    what,
    connector,
    noticed: [
      'no follow-up, enquiry, return, check or message tells the credentials of its account',
    ],
  })),
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
        async parse(message, context) {
          const claims = await right.inbound!.parse(message, context)
          return claims.map((claim) => ({
            ...claim,
            outcome: {
              ...claim.outcome,
              memo: last === undefined ? '' : numberOf(last),
            } as Claim['outcome'],
          }))
        },
      },
    },
    noticed: ['no claim contains card data or credentials'],
  },
]
