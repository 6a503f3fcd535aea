/** The proof of a webhook: an HMAC over some fields of each of its items. */
import { type Inbound, isHmac } from '@tollgate/plugin-kit'

/** An item of a webhook: the fields that its signature covers. Of the others, the date alone is read, for doubts. */
export type Item = {
  readonly pspReference: string
  /** Empty where the item is about no earlier one. */
  readonly originalReference: string
  readonly merchantAccountCode: string
  readonly merchantReference: string
  readonly value: number
  readonly currency: string
  readonly eventCode: string
  readonly success: boolean
}

export type Signed = {
  readonly item: Item
  readonly signature: string | undefined
  /** When it happened, unproven: another date can make operators look, no more. Empty for another form. */
  readonly date: string
}

/** Adyen sends one item, and sent a few at once. A stranger's message must not cost more. */
const mostItems = 50

/**
 * The items of a message, with their signatures.
 *
 * @throws Error for anything but a webhook. The text quotes nothing, because anybody can send a message.
 */
export function signedItems({ body }: Inbound): readonly Signed[] {
  let json: unknown
  try {
    json = JSON.parse(body.toString('utf8'))
  } catch {
    throw new Error('the message is not JSON')
  }
  const { notificationItems } = Object(json) as { readonly notificationItems?: unknown }
  if (!Array.isArray(notificationItems) || notificationItems.length === 0) {
    throw new Error('the message is no webhook of Adyen')
  }
  if (notificationItems.length > mostItems) throw new Error('the webhook has too many items')
  return notificationItems.map((wrapped: unknown) => {
    const { NotificationRequestItem } = Object(wrapped) as {
      readonly NotificationRequestItem?: unknown
    }
    const signed = readItem(NotificationRequestItem)
    if (signed === undefined) throw new Error('an item of the webhook lacks a field')
    return signed
  })
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[^:\\\p{C}]{1,255}$/u.test(value)

/**
 * Colons join the signed fields, so of all fields only the merchant's reference may have one: otherwise two different
 * items could have the same signature.
 */
function readItem(given: unknown): Signed | undefined {
  const fields = Object(given) as Readonly<Record<string, unknown>>
  const { pspReference, merchantAccountCode, eventCode, success, eventDate, additionalData } =
    fields
  // Not every item is about an earlier one, or has a reference of the merchant.
  const originalReference = fields.originalReference ?? ''
  const merchantReference = fields.merchantReference ?? ''
  const { value, currency } = Object(fields.amount) as { value?: unknown; currency?: unknown }
  const isWhole =
    isName(pspReference) &&
    (originalReference === '' || isName(originalReference)) &&
    isName(merchantAccountCode) &&
    typeof merchantReference === 'string' &&
    typeof value === 'number' &&
    Number.isSafeInteger(value) &&
    typeof currency === 'string' &&
    /^[A-Z]{3}$/.test(currency) &&
    typeof eventCode === 'string' &&
    /^[A-Z_]{1,80}$/.test(eventCode) &&
    (success === 'true' || success === 'false')
  if (!isWhole) return undefined
  const { hmacSignature } = Object(additionalData) as { readonly hmacSignature?: unknown }
  return {
    item: {
      pspReference,
      originalReference,
      merchantAccountCode,
      merchantReference,
      value,
      currency,
      eventCode,
      success: success === 'true',
    },
    signature: typeof hmacSignature === 'string' ? hmacSignature : undefined,
    date: typeof eventDate === 'string' && /^[0-9TZ:.+-]{10,40}$/.test(eventDate) ? eventDate : '',
  }
}

const fieldsOf = (item: Item): readonly string[] => [
  item.pspReference,
  item.originalReference,
  item.merchantAccountCode,
  item.merchantReference,
  String(item.value),
  item.currency,
  item.eventCode,
  String(item.success),
]

/** The signed text as Adyen's libraries make it: the fields as they are. */
export const signedText = (item: Item): string => fieldsOf(item).join(':')

/** The same with escaped fields, as Adyen documents it for texts with a colon or a backslash. */
export const escapedText = (item: Item): string =>
  fieldsOf(item)
    .map((field) => field.replaceAll('\\', '\\\\').replaceAll(':', '\\:'))
    .join(':')

/** The keys of a setting: hex, separated by commas or blanks. Two during a rotation. */
export const keysOf = (hmacKeys: string): readonly Buffer[] =>
  hmacKeys
    .split(/[\s,]+/)
    .filter((key) => /^(?:[0-9a-f]{2}){16,}$/i.test(key))
    .map((key) => Buffer.from(key, 'hex'))

/** Whether every item of a message is signed with one of the keys. */
export function isProven(message: Inbound, hmacKeys: string): boolean {
  let items: readonly Signed[]
  try {
    items = signedItems(message)
  } catch {
    return false
  }
  const keys = keysOf(hmacKeys)
  return items.every(({ item, signature }) =>
    [signedText(item), escapedText(item)].some((text) =>
      keys.some((key) => isHmac(signature, text, key, { encoding: 'base64' })),
    ),
  )
}
