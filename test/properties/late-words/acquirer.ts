/**
 * The acquirer: it handles an operation by its fate, keeps its books, and reports them truthfully
 * unless the answer is lost. Several connectors differ in their abilities and share the books.
 */
import {
  accepted,
  approved,
  type Claim,
  type Context,
  declined,
  defineConnector,
  definePlugin,
  type Found,
  type Kind,
  notSent,
  type Operation,
  type Outcome,
  type Plugin,
  pending,
  type ReversalEnd,
  type Reversed,
  type Supports,
  unknown,
} from '@tollgate/plugin-kit'
import { type Books, carryOut, type Entry, isAsAsked, stands } from './books.ts'
import { issuerOf } from './issuer.ts'

/** The abilities that distinguish the acquirers. */
export const abilities = {
  /** Remembers keys for a day, answers enquiries, reverses by key. */
  keyed: { key: true, enquires: true, undoes: true, reverses: true },
  /** Carries a request out as often as it arrives. */
  plain: { key: false, enquires: true, undoes: true, reverses: true },
  asking: { key: false, enquires: true, undoes: false, reverses: true },
  undoing: { key: false, enquires: false, undoes: true, reverses: true },
  bare: { key: true, enquires: true, undoes: false, reverses: false },
} as const

export type Ability = keyof typeof abilities
export const connectorOf = (ability: Ability) => `acquirer-${ability}`

const day = 24 * 3600_000

export const proof = { 'x-proof': 'genuine' }

export function acquirers(books: Books): Plugin {
  const connectors = Object.entries(abilities).map(([name, can]) => {
    const key: Supports['key'] = can.key ? { by: 'key', ttlMs: 4 * day } : { by: 'none' }
    const send = (operation: Operation, context: Context) =>
      sent(books, operation, context, can.key)
    return defineConnector({
      name: connectorOf(name as Ability),
      title: name,
      contract: 1,
      supports: {
        brands: 'any',
        currencies: 'any',
        methods: ['card'],
        key,
        enquiryVisibleAfterMs: 60_000,
        threeDSecure: 'external',
      },
      authorize: send,
      debit: send,
      credit: send,
      capture: send,
      refund: send,
      increment: send,
      ...(can.reverses ? { reverse: send } : {}),
      resolve: {
        ...(can.enquires
          ? { enquire: async (operation: Operation) => found(books.entry(operation)) }
          : {}),
        ...(can.undoes
          ? { reverseByKey: async (operation: Operation) => undone(books, books.entry(operation)) }
          : {}),
      },
      inbound: {
        verify: ({ headers }) => headers['x-proof'] === 'genuine',
        parse: ({ body }) => JSON.parse(body.toString(), revived) as Claim[],
      },
    })
  })
  return definePlugin({
    name: 'acquirers',
    contract: 1,
    connectors,
    authenticators: [issuerOf(books)],
  })
}

const revived = (name: string, value: unknown) =>
  name === 'minor' ? BigInt(value as string) : value

/** An operation arrives, for the first time or again. */
async function sent(
  books: Books,
  operation: Operation,
  context: Context,
  remembers: boolean,
): Promise<Outcome> {
  const entry = books.entry(operation)
  const { fate } = entry
  const isFirst = entry.sends === 0
  const answer = isFirst ? fate.answer : fate.repeat
  if (answer === 'unreachable') {
    entry.sends += 1
    return notSent('ECONNREFUSED')
  }
  context.sending()
  entry.sends += 1
  const isNew = entry.state === 'nothing' || entry.state === 'coming'
  if (!entry.isHarmless && (isNew || !remembers)) {
    const becomes = isFirst || fate.becomes !== 'coming' ? fate.becomes : 'done'
    if (becomes === 'done' || becomes === 'accepted') carryOut(entry, fate.amount, becomes)
    // A request that was lost arrives when it is repeated.
    else if (becomes === 'nothing' && !isFirst) carryOut(entry, 'same', 'done')
    else if (entry.times === 0) entry.state = becomes
    entry.hidden = fate.hidden
  }
  if (answer === 'lost') return unknown('the line went dead')
  if (answer !== 'late' || entry.state !== 'coming') return truth(entry)
  await new Promise<void>((release) => {
    entry.release = release
  })
  return truth(entry)
}

const bankPage = { redirect: { url: 'https://bank.example/pay' } }

/** The state of the books as an outcome. */
export function truth(entry: Entry): Outcome {
  const refs = { reference: `at-${entry.key}` }
  if (entry.isHarmless && !stands(entry)) return declined('800.100.100', { refs, ofKey: true })
  switch (entry.state) {
    case 'done': {
      return approved(refs, isAsAsked(entry) ? {} : { amount: entry.moved })
    }
    case 'accepted':
      return accepted(refs, 'event')
    case 'pending':
      return pending(entry.returnUrl === undefined ? 'event' : bankPage, { refs })
    case 'nothing':
    case 'coming':
      return unknown('nothing is known of it yet')
    default:
      return declined('800.100.155', { refs, ofKey: true })
  }
}

function found(entry: Entry): Found {
  if (entry.hidden > 0) {
    entry.hidden -= 1
    return { is: 'notFound' }
  }
  if (entry.reversal === 'requested') return { is: 'requested' }
  const isThere = entry.state !== 'nothing' && entry.state !== 'coming'
  return isThere ? (reversalOf(entry) ?? truth(entry)) : { is: 'notFound' }
}

/** The end of a reversal that was requested. */
export function reversalOf(entry: Entry): ReversalEnd | undefined {
  switch (entry.reversal) {
    case 'done':
      return { is: 'reversed', refs: {} }
    case 'failed':
      return { is: 'notReversed', why: 'the line to the scheme is down' }
    default:
      return undefined
  }
}

const money = new Set<Kind>(['refund', 'reverse', 'capture'])

/** Reverses the operation under the key, unless follow-ups depend on it. */
function undone(books: Books, entry: Entry): Reversed {
  if (entry.fate.undo === 'no answer') return { is: 'unknown', why: 'no answer' }
  if (!stands(entry) && entry.state !== 'pending') {
    entry.isHarmless = true
    return { is: 'nothing' }
  }
  const isUsed = books.upon(entry.key).some((later) => money.has(later.kind))
  const isLost = books.disputes.some(({ key }) => key === entry.key)
  if (entry.fate.undo === 'too late' || isUsed || isLost) {
    return { is: 'refused', why: 'too late' }
  }
  entry.isHarmless = true
  if (entry.fate.undo === 'later') {
    entry.reversal = 'requested'
    return { is: 'requested' }
  }
  entry.state = 'taken back'
  return { is: 'reversed' }
}
