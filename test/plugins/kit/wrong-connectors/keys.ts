/** Mistakes with keys, and with the mark of requests that move money. */
import { randomBytes } from 'node:crypto'
import type { Connector, Kind } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import { contextOver, overHttp, resolving, type Wrap, type Wrong } from './changed-connector.ts'
import { faultCases } from './line.ts'

/** Removes `moves`. */
const untagged: Wrap =
  (send) =>
  (method, url, { moves: _forgotten, ...options } = {}) =>
    send(method, url, options)

/** A connector that remembers its keys and sends a repeat under another one. */
export function repeating(of: Kind = 'debit'): Connector {
  const sent = new Set<string>()
  return overHttp((send, { key, kind }) => async (method, url, options = {}) => {
    const isRepeat = sent.has(key)
    if (kind === of) sent.add(key)
    if (!isRepeat) return send(method, url, options)
    const own = randomBytes(16).toString('hex')
    const headers = { ...options.headers, 'idempotency-key': own }
    const answer = await send(method, url, { ...options, headers })
    return { ...answer, json: () => JSON.parse(answer.text().replaceAll(own, key)) }
  })
}

/** Cases that need to recognise the moving request. */
const needingTag = (of: 'everything' | 'one kind'): readonly string[] => [
  ...faultCases,
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

export const keyMistakes: readonly Wrong[] = [
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
]
