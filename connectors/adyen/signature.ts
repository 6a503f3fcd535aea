/** The proof of a webhook: an HMAC over some fields of each of its items. */
import { type Inbound, isHmac } from '@tollgate/plugin-kit'

/** An item of a webhook: the fields that its signature covers. Of the others, the date alone is read, for doubts. */
export type Item = {
  readonly pspReference: string
  /** Empty where the item is about no earlier one. */
  readonly originalReference: string
  readonly merchantAccountCode: string
  /** Empty where the item has none. */
  readonly merchantReference: string
  /** No whole number where the item has none. */
  readonly value: number
  readonly currency: string
  /** `unlisted` for a text that can be no code. */
  readonly eventCode: string
  readonly success: boolean
}

/** The fields as their signature covers them, in its order. */
type Texts = { readonly [Name in keyof Item]: string }

export type Signed = {
  readonly item: Item
  readonly texts: Texts
  /** Whether no other item has the same signed text, all names are ones, and it is said whether something succeeded. */
  readonly isClear: boolean
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
    return readItem(NotificationRequestItem)
  })
}

/** Adyen's libraries sign any text, and nothing for an absent field. */
const textOf = (value: unknown): string =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : ''

/**
 * Any field can have any text: what Adyen signed is never refused, because Adyen sends it until it is taken, and holds
 * back what comes after it. Colons join the fields, so an item is clear only if its merchant's reference alone has one.
 */
function readItem(given: unknown): Signed {
  const fields = Object(given) as Readonly<Record<string, unknown>>
  const { value, currency } = Object(fields.amount) as { value?: unknown; currency?: unknown }
  const texts = {
    pspReference: textOf(fields.pspReference),
    originalReference: textOf(fields.originalReference),
    merchantAccountCode: textOf(fields.merchantAccountCode),
    merchantReference: textOf(fields.merchantReference),
    value: textOf(value),
    currency: textOf(currency),
    eventCode: textOf(fields.eventCode),
    success: textOf(fields.success),
  }
  const { merchantReference: _, ...others } = texts
  const { hmacSignature } = Object(fields.additionalData) as { readonly hmacSignature?: unknown }
  const { eventDate: date } = fields
  return {
    item: {
      ...texts,
      value: typeof value === 'number' ? value : Number.NaN,
      eventCode: /^[A-Z_]{1,80}$/.test(texts.eventCode) ? texts.eventCode : 'unlisted',
      success: texts.success === 'true',
    },
    texts,
    isClear:
      texts.pspReference !== '' &&
      Object.values(others).every((text) => /^[^:\\\p{C}]{0,255}$/u.test(text)) &&
      (texts.success === 'true' || texts.success === 'false'),
    signature: typeof hmacSignature === 'string' ? hmacSignature : undefined,
    date: typeof date === 'string' && /^[0-9TZ:.+-]{10,40}$/.test(date) ? date : '',
  }
}

/** The signed text as Adyen's libraries make it: the fields as they are. */
export const signedText = (texts: Texts): string => Object.values(texts).join(':')

/** The same with escaped fields, as Adyen documents it for texts with a colon or a backslash. */
export const escapedText = (texts: Texts): string =>
  Object.values(texts)
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
  return items.every(({ texts, signature }) =>
    [signedText(texts), escapedText(texts)].some((text) =>
      keys.some((key) => isHmac(signature, text, key, { encoding: 'base64' })),
    ),
  )
}
