/**
 * Events of a few payments of one merchant: a sequence is a list of these, and prints as a story.
 */
import type { FaultPoint } from '../../../core/index.ts'
import type { Ability } from './acquirer.ts'
import type { Issuer } from './books.ts'
import { type Amount, type Fate, shownFate } from './fate.ts'

/** The circumstances of a merchant's request. */
export type Way = {
  readonly engine: 0 | 1
  readonly keyed: boolean
  /** Sent to both engines at once. */
  readonly twice: boolean
  /** The fault point at which its process dies. */
  readonly crash: FaultPoint | undefined
}

/** How a shopper presses the pay button. `again`: the button of the press before. */
export type Click = 'once' | 'double' | 'in two tabs' | 'again'

/** `PA+` is an increment. */
export type FollowUpType = 'CP' | 'RV' | 'RF' | 'RB' | 'RC' | 'PA+' | 'CB' | 'CR'
export type Share = 'whole' | 'half' | 'third'

/** The acquirer's next change of an operation in its books, reported in a message. */
export type Turn =
  | 'completes'
  | 'abandons'
  | 'confirms'
  | 'fails'
  | 'returns'
  | 'does it after all'
  | 'takes it back'
  | 'cannot take it back'
  | 'repeats itself'

export type Delivery =
  | 'now'
  | 'later'
  | 'twice'
  | 'under another id too'
  | 'after a forgery of its id'
  | 'unproven'

export type Command =
  | {
      readonly do: 'pay'
      readonly type: 'DB' | 'PA' | 'PA.CP' | 'CD'
      readonly fate: Fate
      readonly second: Fate
      readonly way: Way
    }
  | {
      readonly do: 'follow'
      readonly type: FollowUpType
      readonly on: number
      readonly share: Share
      /** Closes later operations of its kind. */
      readonly isFinal: boolean
      readonly fate: Fate
      readonly way: Way
    }
  | { readonly do: 'repeat'; readonly request: number; readonly engine: 0 | 1 }
  | {
      readonly do: 'turn'
      readonly on: number
      readonly turn: Turn
      readonly amount: Amount
      readonly delivery: Delivery
      readonly crash: FaultPoint | undefined
    }
  | {
      readonly do: 'charge back'
      readonly on: number
      readonly share: Share
      readonly named: boolean
      readonly reversed: 'no' | 'first' | 'after'
      readonly delivery: Delivery
      readonly crash: FaultPoint | undefined
    }
  | { readonly do: 'reverse chargeback'; readonly on: number; readonly delivery: Delivery }
  | { readonly do: 'arrive'; readonly on: number }
  | { readonly do: 'deliver'; readonly message: number }
  | { readonly do: 'enquire'; readonly on: number; readonly crash: FaultPoint | undefined }
  | { readonly do: 'decide'; readonly on: number }
  | { readonly do: 'check out'; readonly type: 'DB' | 'PA'; readonly engine: 0 | 1 }
  | {
      readonly do: 'press'
      readonly on: number
      readonly fate: Fate
      /** Undefined: the browser is not described, so nobody authenticates the shopper. */
      readonly issuer: Issuer | undefined
      readonly click: Click
      readonly engine: 0 | 1
      readonly crash: FaultPoint | undefined
    }
  | {
      readonly do: 'come back'
      readonly on: number
      /** The issuer's view by then, or a bank's page that approved or cancelled. */
      readonly issuer: Issuer
      /** On both engines at once. */
      readonly twice: boolean
      readonly engine: 0 | 1
      readonly crash: FaultPoint | undefined
    }
  | { readonly do: 'close checkout'; readonly on: number; readonly how: 'expires' | 'is removed' }
  | { readonly do: 'lose commit'; readonly when: 'before' | 'after'; readonly of: string }
  | { readonly do: 'outage'; readonly engine: 0 | 1 }
  | { readonly do: 'night' }

/** One merchant with its acquirer, its settings and its events. */
export type Sequence = {
  readonly ability: Ability
  readonly partial: boolean
  readonly commands: readonly Command[]
}

export function shownSequence(sequence: Sequence): string {
  const { ability, partial, commands } = sequence
  const setting = partial ? 'partialApproval' : 'no partial approval'
  return [`acquirer ${ability}, ${setting}`, ...commands.map(shown)]
    .map((line, index) => (index === 0 ? line : `  ${index}. ${line}`))
    .join('\n')
}

function shown(command: Command): string {
  switch (command.do) {
    case 'pay': {
      const second = command.type === 'PA.CP' ? ` then (${shownFate(command.second)})` : ''
      return `${command.type} (${shownFate(command.fate)})${second}${shownWay(command.way)}`
    }
    case 'follow':
      return `${command.type} ${command.share}${command.isFinal ? ' FINAL' : ''} on #${command.on} (${shownFate(command.fate)})${shownWay(command.way)}`
    case 'repeat':
      return `request #${command.request} again under its key`
    case 'turn': {
      const amount = command.amount === 'same' ? '' : `, ${command.amount}`
      return `acquirer ${command.turn} with #${command.on}${amount}, told ${command.delivery}${died(command.crash)}`
    }
    case 'charge back': {
      const more = command.reversed === 'no' ? '' : `, reversal told ${command.reversed}`
      return `chargeback of #${command.on} ${command.share}${command.named ? '' : ' without reference'}${more}, told ${command.delivery}${died(command.crash)}`
    }
    case 'reverse chargeback':
      return `chargeback #${command.on} reversed, told ${command.delivery}`
    case 'arrive':
      return `what was on its way to the acquirer (#${command.on}) arrives`
    case 'deliver':
      return `message #${command.message} is delivered`
    case 'enquire':
      return `enquiry about #${command.on}${died(command.crash)}`
    case 'decide':
      return `operator asks about #${command.on}, then decides by the acquirer's books`
    case 'check out':
      return `checkout for a ${command.type}`
    case 'press': {
      const issuer = command.issuer === undefined ? '' : `, the issuer ${command.issuer}`
      return `press ${command.click} in checkout #${command.on} (${shownFate(command.fate)})${issuer}${died(command.crash)}`
    }
    case 'come back':
      return `shopper #${command.on} comes back${command.twice ? ' twice at once' : ''}, the issuer ${command.issuer}${died(command.crash)}`
    case 'close checkout':
      return `checkout #${command.on} ${command.how}`
    case 'lose commit':
      return `the next commit of "${command.of}" is cut ${command.when} it`
    case 'outage':
      return 'a debit while the database is not there'
    case 'night':
      return 'night: leases end, timers ring, jobs run'
  }
}

const died = (crash: FaultPoint | undefined) => (crash === undefined ? '' : `, dies ${crash}`)

function shownWay(way: Way): string {
  const words = [
    ...(way.keyed ? ['keyed'] : []),
    ...(way.twice ? ['twice at once'] : []),
    ...(way.crash === undefined ? [] : [`dies ${way.crash}`]),
  ]
  return words.length === 0 ? '' : `, ${words.join(', ')}`
}
