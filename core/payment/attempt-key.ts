import { createHash } from 'node:crypto'
import type { Connector } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import type { Idempotency } from './idempotency.ts'

/**
 * Idempotency key of an attempt at the acquirer, in the acquirer's format. With an
 * `Idempotency-Key`, the key derives from the merchant's key, so that the acquirer recognises a
 * repeat even after the database lost its rows. Without one, the key derives from the payment's id.
 */
export function attemptKey(
  engine: Pick<Engine, 'vault'>,
  connector: Connector,
  paymentId: string,
  idempotency: Idempotency | null,
  no: number,
): string {
  const hex =
    idempotency !== null
      ? engine.vault.acquirerKey(idempotency.entityId, idempotency.sent, no)
      : no === 1
        ? paymentId
        : createHash('sha256').update(`${paymentId} ${no}`).digest('hex')
  return shaped(hex, connector.supports.keyFormat ?? { alphabet: 'hex', length: 32 })
}

const alphabets = {
  digits: '0123456789',
  alphanumeric: '0123456789abcdefghijklmnopqrstuvwxyz',
} as const

function shaped(
  hex: string,
  format: { alphabet: 'hex' | 'alphanumeric' | 'digits'; length: number },
): string {
  if (format.alphabet === 'hex' && format.length <= hex.length) return hex.slice(0, format.length)
  const digest = createHash('sha512').update(hex).digest('hex')
  if (format.alphabet === 'hex') return digest.slice(0, format.length)
  const alphabet = alphabets[format.alphabet]
  const base = BigInt(alphabet.length)
  let rest = BigInt(`0x${digest}`)
  let text = ''
  while (text.length < format.length && rest > 0n) {
    text += alphabet[Number(rest % base)]
    rest /= base
  }
  return text
}
