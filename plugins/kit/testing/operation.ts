import { randomInt } from 'node:crypto'
import type { Connector, Kind, Operation } from '../connector.ts'
import type { Accepted, Approved, Money } from '../outcome.ts'
import type { Sandbox, Scene } from './sandbox.ts'

/** Handlers that pay with an instrument and move money. */
export const firstKinds = ['authorize', 'debit', 'credit'] as const satisfies readonly Kind[]
export const followUpKinds = [
  'capture',
  'refund',
  'reverse',
  'increment',
] as const satisfies readonly Kind[]
/** Every handler that moves money. */
export const moneyKinds: readonly Kind[] = [...firstKinds, ...followUpKinds]

/** "a capture", "an authorize" */
export const withArticle = (kind: Kind): string => `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`

/** 92.00 EUR. */
export const usualAmount: Money = { minor: 9200n, currency: 'EUR' }

/** An operation that was carried out. */
export type Done = { readonly operation: Operation; readonly outcome: Approved | Accepted }

/** Whether a handler can pay with a scene. */
export const suits = (scene: Scene, kind: Kind): boolean =>
  scene.kinds === undefined || scene.kinds.includes(kind)

/** The scenes for a handler. */
export const scenesOf = ({ approved }: Sandbox, kind: Kind): readonly Scene[] =>
  approved.filter((scene) => suits(scene, kind))

/** The kind of an operation's original; undefined: none. */
export function originalKind(connector: Connector, kind: Kind): Kind | undefined {
  if (kind === 'capture' || kind === 'increment') return 'authorize'
  if (kind === 'refund') return connector.debit === undefined ? 'capture' : 'debit'
  if (kind === 'reverse') return connector.authorize === undefined ? 'debit' : 'authorize'
  return undefined
}

/** The engine's page for the way back from a bank or an issuer. */
export const returnUrl = 'https://shop.example/return'

/** A first operation as an engine passes it. A handler must not change it. */
export function firstOperation(
  connector: Connector,
  kind: Kind,
  { instrument, amount = usualAmount, request = {} }: Scene,
): Operation {
  const brand = instrument.brand
  return frozen({ ...plain(connector, kind, amount, request), brand, instrument, returnUrl })
}

/** A follow-up: by reference, without the instrument. */
export function operationOn(
  connector: Connector,
  kind: Kind,
  { operation, outcome }: Done,
  minor: bigint = operation.amount.minor,
): Operation {
  const { paymentId, key, amount, brand } = operation
  const { refs, memo } = outcome
  const networkTxId = outcome.is === 'approved' ? outcome.networkTxId : undefined
  return frozen({
    ...plain(connector, kind, { minor, currency: amount.currency }, {}),
    ...(brand === undefined ? {} : { brand }),
    original: {
      paymentId,
      kind: operation.kind,
      key,
      amount,
      refs,
      ...(memo === undefined ? {} : { memo }),
      ...(networkTxId === undefined ? {} : { networkTxId }),
      ...(kind === 'increment'
        ? { authorised: amount, increasing: { minor, currency: amount.currency } }
        : {}),
    },
  })
}

/** The operation as in a later enquiry, without its instrument. */
export function withoutInstrument(operation: Operation): Operation {
  const { instrument: _gone, threeDSecure: _too, ...rest } = operation
  return frozen(rest)
}

/** The same with the references of its answer, as an engine has them after an answer. */
export const answered = ({ operation, outcome: { refs } }: Done): Operation =>
  frozen({ ...operation, refs })

function plain(connector: Connector, kind: Kind, amount: Money, request: Operation['request']) {
  return {
    kind,
    ...newIds(),
    key: newKey(connector),
    amount,
    request,
  }
}

/** The ids of a new payment. */
export const newIds = () => ({
  paymentId: randomHex(),
  shortId: [1, 2, 3].map(() => text(alphabets.digits, 4)).join('.'),
  merchantTransactionId: `order-${text(alphabets.digits, 8)}`,
})

/** 128 random bits, as the ids and keys of an engine. */
export const randomHex = (): string => text(alphabets.hex, 32)

const alphabets = {
  hex: '0123456789abcdef',
  alphanumeric: '0123456789abcdefghijklmnopqrstuvwxyz',
  digits: '0123456789',
}

/** An unused key in the connector's form. */
export function newKey({ supports: { keyFormat } }: Connector): string {
  return text(alphabets[keyFormat?.alphabet ?? 'hex'], keyFormat?.length ?? 32)
}

function text(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}

export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
