/**
 * The card number behind what a request refers to must not stand in the request: a capture that repeats it
 * as its reference would have it stored in clear. It is never compared, for then whoever sends candidates
 * would learn which one is right. Refused is whatever could be it for somebody who sees no more than answers
 * show: a card number with its first six and its last four digits. Of a network token answers show the last
 * four alone; the range of a known brand stands in for the first six. Bank accounts have neither, and are not
 * looked for.
 */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { hasKnownBrand, passesLuhn } from '../redaction/card-number.ts'
import { digitsOf, hasDigits } from '../redaction/card-numbers.ts'
import { layersOf } from '../redaction/escapes.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import { sealedNumbersOf } from './store-read.ts'
import { numbersOf } from './stored-request.ts'
import type { Payment, StoredRequest } from './types.ts'

/** Where a request says what it refers to, by ids that must exist; they have digits enough, and are no text. */
const ids = new Set(['entityId', 'authentication', 'registrationId', 'referenceUuid', 'testClock'])
const shortest = 13
const longest = 19
const lengths = Array.from({ length: longest - shortest + 1 }, (_, more) => shortest + more)
/** Digits of a request that are looked at. The references of a thousand cart items have fewer. */
const most = 200_000

/** What answers show of a number. */
type Shown = { readonly beginning: string | null; readonly ending: string }

/** Digits of one field, however they are written there. */
type Sent = { readonly name: string; readonly digits: string }

/** @throws GatewayError 400 naming the field that holds what could be the number of the payment that is followed up. */
export async function refuseFollowedNumber(
  engine: Pick<Engine, 'lanes'>,
  target: Payment,
  fields: RequestFields,
): Promise<void> {
  const known = shownOf(target.request)
  const sent = sentDigits(fields, known?.ending)
  if (sent.length === 0) return
  for (const { beginning, ending } of await engine.lanes.read(sealedNumbersOf(target.id))) {
    if (ending !== null) refuseLike({ beginning, ending }, sent)
  }
}

/** @throws GatewayError 400 naming the field that holds what could be the number of the registration. */
export function refuseRegisteredNumber(
  registration: { readonly request: StoredRequest },
  fields: RequestFields,
): void {
  const shown = shownOf(registration.request)
  if (shown !== undefined) refuseLike(shown, sentDigits(fields, shown.ending))
}

function refuseLike(shown: Shown, sent: readonly Sent[]): void {
  const found = sent.find(({ digits }) => holdsLike(digits, shown))
  if (found === undefined) return
  const message =
    'must not hold the card number that this request refers to, nor one that looks like it'
  throw refuse('200.300.404', found.name, message)
}

/** What a stored request shows of its number; undefined where that is no card number or token of one. */
function shownOf(stored: StoredRequest): Shown | undefined {
  const [card, token] = ['card', 'tokenAccount'].map((name) =>
    groupOf(stored as RequestFields, name),
  )
  const ending = textOf(card, 'last4Digits') ?? textOf(token, 'last4Digits')
  return ending === undefined ? undefined : { beginning: textOf(card, 'bin') ?? null, ending }
}

/** Whether any of these digits, wherever they begin, are a card number of which the same is shown. */
function holdsLike(digits: string, { beginning, ending }: Shown): boolean {
  for (let at = digits.indexOf(ending); at !== -1; at = digits.indexOf(ending, at + 1)) {
    const end = at + ending.length
    for (let length = shortest; length <= Math.min(longest, end); length++) {
      if (beginning !== null && !digits.startsWith(beginning, end - length)) continue
      const number = digits.slice(end - length, end)
      if (passesLuhn(number) && hasItsLength(number, beginning !== null)) return true
    }
  }
  return false
}

/** Whether numbers of its brand are so long. Where no brand is known, `orElse`. */
function hasItsLength(number: string, orElse: boolean): boolean {
  const firstEight = Number(number.slice(0, 8))
  if (hasKnownBrand(firstEight, number.length)) return true
  return orElse && !lengths.some((length) => hasKnownBrand(firstEight, length))
}

/** What of a request could hold the number, in one layer of escapes or another. */
function sentDigits(fields: RequestFields, ending: string | undefined): Sent[] {
  const sent: Sent[] = []
  // What is sent in its own field is sealed, or not kept: deployed clients repeat the whole account.
  const own = numbersOf(fields)
  let left = most
  for (const [name, text] of textsOf(fields)) {
    if (own[name] !== undefined || !hasDigits(text, shortest)) continue
    for (const layer of layersOf(text)) {
      const digits = digitsOf(layer)
      if (layer === text) left -= digits.length
      if (left < 0) throw refuse('200.300.404', name, 'holds more numbers than can be compared')
      if (ending === undefined || digits.includes(ending)) sent.push({ name, digits })
    }
  }
  return sent
}

/** Every text of a request with the name of its field. A name of the sender's choice is a text as well. */
function* textsOf(value: unknown, name = ''): Generator<readonly [name: string, text: string]> {
  if (typeof value === 'string') yield [name, value]
  else if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) yield* textsOf(inner, `${name}[${index}]`)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      if (name === '' && ids.has(key)) continue
      const full = name === '' ? key : `${name}.${key}`
      if (key.length >= shortest) yield [name, key]
      yield* textsOf(inner, full)
    }
  }
}
