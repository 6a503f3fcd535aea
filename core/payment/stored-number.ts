/**
 * Keeps the card number of the referenced payment or registration out of a request: a capture that
 * repeats the number as its reference would store it in clear. A comparison with the real number
 * would confirm guesses. The code therefore refuses every card number with the visible first six
 * and last four digits. For network tokens only the last four are visible; the range of a known
 * brand replaces the first six. Bank accounts have neither and are not searched for.
 */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { hasKnownBrand, passesLuhn } from '../redaction/card-number.ts'
import { digitsOf, hasDigits } from '../redaction/card-numbers.ts'
import { layersOf } from '../redaction/escapes.ts'
import { ownNumberIn } from '../request/own-number.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import { sealedNumbersOf } from './store-read.ts'
import { numbersOf } from './stored-request.ts'
import type { Payment, StoredRequest } from './types.ts'

/** Fields with ids of existing resources: these have many digits and are no text. */
const ids = new Set(['entityId', 'authentication', 'registrationId', 'referenceUuid', 'testClock'])
const shortest = 13
const longest = 19
const lengths = Array.from({ length: longest - shortest + 1 }, (_, more) => shortest + more)
/** Limit of digits to search. The references of a thousand cart items have fewer. */
const most = 200_000

/** The visible digits of a number. */
type Shown = { readonly beginning: string | null; readonly ending: string }

/** Digits of one field, in any notation. */
type Sent = { readonly name: string; readonly digits: string }

/** @throws GatewayError 400 naming the field that may hold the number of the referenced payment. */
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

/** @throws GatewayError 400 naming the field that may hold the number of the registration. */
export function refuseRegisteredNumber(
  registration: { readonly request: StoredRequest },
  fields: RequestFields,
): void {
  const shown = shownOf(registration.request)
  if (shown !== undefined) refuseLike(shown, sentDigits(fields, shown.ending))
}

/**
 * The same for a number that the sender of the request does not know.
 *
 * @throws RepeatedNumber 400 naming the text.
 */
export function refuseNumberLike(
  number: string,
  texts: Iterable<readonly [name: string, text: string]>,
): void {
  const shown = { beginning: number.slice(0, 6), ending: number.slice(-4) }
  const named = [...texts].flatMap(([name, text]) => [
    [name, text] as const,
    ...(name.includes('[') ? [[name, name] as const] : []),
  ])
  const sent = digitsIn(
    named.filter(([name]) => !ids.has(name)),
    shown.ending,
  )
  const found = sent.find(({ digits }) => holdsLike(digits, shown))
  if (found !== undefined) throw ownNumberIn(found.name)
}

function refuseLike(shown: Shown, sent: readonly Sent[]): void {
  const found = sent.find(({ digits }) => holdsLike(digits, shown))
  if (found === undefined) return
  const message =
    'must not hold the card number that this request refers to, nor one that looks like it'
  throw refuse('200.300.404', found.name, message)
}

/** The visible digits of a stored request; undefined without a card number or token. */
function shownOf(stored: StoredRequest): Shown | undefined {
  const [card, token] = ['card', 'tokenAccount'].map((name) =>
    groupOf(stored as RequestFields, name),
  )
  const ending = textOf(card, 'last4Digits') ?? textOf(token, 'last4Digits')
  return ending === undefined ? undefined : { beginning: textOf(card, 'bin') ?? null, ending }
}

/** Whether the digits contain, at any position, a card number with the same visible digits. */
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

/** Whether the length fits the number's brand. Without a known brand, `orElse`. */
function hasItsLength(number: string, orElse: boolean): boolean {
  const firstEight = Number(number.slice(0, 8))
  if (hasKnownBrand(firstEight, number.length)) return true
  return orElse && !lengths.some((length) => hasKnownBrand(firstEight, length))
}

/** The texts of a request that may hold the number, with escapes decoded. */
function sentDigits(fields: RequestFields, ending: string | undefined): Sent[] {
  // Fields of their own seal or drop their numbers, and deployed clients repeat the whole account.
  const own = numbersOf(fields)
  return digitsIn(
    [...textsOf(fields)].filter(([name]) => own[name] === undefined),
    ending,
  )
}

function digitsIn(
  texts: readonly (readonly [name: string, text: string])[],
  ending: string | undefined,
): Sent[] {
  const sent: Sent[] = []
  let left = most
  for (const [name, text] of texts) {
    if (!hasDigits(text, shortest)) continue
    for (const layer of layersOf(text)) {
      const digits = digitsOf(layer)
      if (layer === text) left -= digits.length
      if (left < 0) throw refuse('200.300.404', name, 'holds more numbers than can be compared')
      if (ending === undefined || digits.includes(ending)) sent.push({ name, digits })
    }
  }
  return sent
}

/** Every text of a request with its field name. Names that the sender chose count as texts. */
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
