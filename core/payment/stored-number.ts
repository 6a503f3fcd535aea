/**
 * The card number behind what a request refers to must not stand in the request: a capture that repeats it
 * as its reference would have it stored in clear. The number stays sealed. What could be it is compared by its
 * keyed fingerprint, and most requests hold nothing that could be it.
 */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { digitsOf, hasDigits } from '../net/card-numbers.ts'
import type { Registration } from '../registration/types.ts'
import { passesLuhn } from '../request/card-number.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import type { Place } from '../vault/binding.ts'
import { placeOf } from './instrument.ts'
import { sealedNumbersOf } from './store-read.ts'
import { numbersOf } from './stored-request.ts'
import type { Payment, StoredRequest } from './types.ts'

/** Where a request says what it refers to, by ids that must exist; they have digits enough, and are no text. */
const ids = new Set(['entityId', 'authentication', 'registrationId', 'referenceUuid', 'testClock'])
const shortest = 13
const longest = 19
/** Digits of a request that are looked at. The references of a thousand cart items have fewer. */
const most = 200_000

/** What is known of a number that is sealed. */
type Sealed = {
  /** Null of one that was sealed before fingerprints had a key for each merchant. */
  readonly fingerprint: Buffer | null
  readonly ending: string | null
  readonly place: Place
}

/** @throws GatewayError 400 naming the field that holds the number of the payment that is followed up. */
export function refuseFollowedNumber(
  engine: Engine,
  target: Payment,
  fields: RequestFields,
): Promise<void> {
  return refuseSealed(engine, target.channelId, fields, endingOf(target.request), async () => {
    const rows = await engine.lanes.read(sealedNumbersOf(target.id))
    return rows.map(({ id, channel_id: channelId, registration_id: registrationId, ...known }) => ({
      ...known,
      place: placeOf({ id, channelId, registrationId }),
    }))
  })
}

/** @throws GatewayError 400 naming the field that holds the number of the registration. */
export function refuseRegisteredNumber(
  engine: Engine,
  registration: Registration,
  fields: RequestFields,
): Promise<void> {
  const { id: registrationId, channelId, instrumentId: id, fingerprint } = registration
  const ending = endingOf(registration.request)
  return refuseSealed(engine, channelId, fields, ending, async () =>
    id === null ? [] : [{ fingerprint, ending, place: placeOf({ id, channelId, registrationId }) }],
  )
}

/** @param ending of the number, where it is known without asking. */
async function refuseSealed(
  engine: Engine,
  channelId: string,
  fields: RequestFields,
  ending: string | null,
  ask: () => Promise<readonly Sealed[]>,
): Promise<void> {
  const texts: { name: string; digits: string }[] = []
  // What is sent in its own field is sealed, or not kept: deployed clients repeat the whole account.
  const own = numbersOf(fields)
  let left = most
  for (const [name, text] of textsOf(fields)) {
    if (own[name] !== undefined || !hasDigits(text, shortest)) continue
    const digits = digitsOf(text)
    left -= digits.length
    if (left < 0) throw refuse('200.300.404', name, 'holds more numbers than can be compared')
    if (ending === null || digits.includes(ending)) texts.push({ name, digits })
  }
  if (texts.length === 0) return
  for (const sealed of await ask()) {
    let isIt: ((number: string) => boolean) | undefined
    for (const { name, digits } of texts) {
      for (const number of numbersIn(digits, sealed.ending ?? '')) {
        isIt ??= await comparison(engine, channelId, sealed)
        if (!isIt(number)) continue
        const message = 'must not hold the card number that this request refers to'
        throw refuse('200.300.404', name, message)
      }
    }
  }
}

/** Says of a number whether it is the sealed one, which is opened only where nothing else can tell. */
async function comparison(
  { vault, directory }: Engine,
  channelId: string,
  { fingerprint, place }: Sealed,
): Promise<(number: string) => boolean> {
  if (fingerprint !== null) {
    const merchantId = await directory.merchantOf(channelId)
    return (number) => vault.fingerprint(merchantId, number).equals(fingerprint)
  }
  const numbers = await vault.unseal(place)
  const own = numbers?.['card.number'] ?? numbers?.['tokenAccount.number']
  return (number) => number === own
}

/** The last digits of the stored number, as they are shown; null where the request does not tell them. */
function endingOf(stored: StoredRequest): string | null {
  for (const name of ['card', 'tokenAccount']) {
    const ending = textOf(groupOf(stored as RequestFields, name), 'last4Digits')
    if (ending !== undefined) return ending
  }
  return null
}

/** What of some digits passes the Luhn check, wherever it begins. */
function* numbersIn(digits: string, ending: string): Generator<string> {
  for (let end = digits.length; end >= shortest; end--) {
    if (!digits.endsWith(ending, end)) continue
    for (let length = shortest; length <= Math.min(longest, end); length++) {
      const number = digits.slice(end - length, end)
      if (passesLuhn(number)) yield number
    }
  }
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
