/** What a job of the program carries: JSON, as the database stores it. */
import { GatewayError } from '../errors.ts'

const wrong = (name: string, message: string) =>
  new GatewayError('200.300.404', { parameterErrors: [{ name, message }] })

/** Postgres stores no such text in JSON. */
const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed()

const unstorable = 'has a text with the character U+0000 or half of a surrogate pair'

/**
 * Checks what `sendJob` is to queue, before anything is sent to the database.
 *
 * @throws GatewayError 200.300.404 naming `payload` or `key`.
 */
export function checkJob(payload: unknown, key: unknown): void {
  if (key !== undefined && (typeof key !== 'string' || !isStorable(key))) {
    throw wrong('key', 'must be a text without the character U+0000')
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    throw wrong('payload', 'must be an object such as { orderId }')
  }
  let isWhole = true
  try {
    const text = JSON.stringify(payload, (name, value: unknown) => {
      if (!isStorable(name) || (typeof value === 'string' && !isStorable(value))) isWhole = false
      return value
    })
    if (!text?.startsWith('{')) throw wrong('payload', 'must be an object such as { orderId }')
  } catch (error) {
    if (error instanceof GatewayError) throw error
    throw wrong('payload', 'cannot be written as JSON, as with a circle or a BigInt in it')
  }
  if (!isWhole) throw wrong('payload', unstorable)
}
