/** Leaks of card data and credentials. */
import { createHash } from 'node:crypto'
import type { Claim, Operation } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import { around, catching, overHttp, saying, type Wrong } from './changed-connector.ts'

const numberOf = ({ instrument }: Operation): string =>
  instrument !== undefined && 'number' in instrument ? (instrument.number?.reveal() ?? '') : ''

/** The last operation, in a connector with state in its module. */
let last: Operation | undefined

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
