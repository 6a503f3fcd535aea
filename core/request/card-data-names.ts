/** Detects names of authentication data, wherever senders choose names. */
import { normalForm } from '../redaction/normal-form.ts'

/**
 * Whether a name means card data, with any separators or capitals: `card_cvv`, `cardCvv`, `c_v_v`.
 */
export function namesCardData(name: string): boolean {
  const form = isAscii.test(name) ? name : normalForm(name)
  if (!mayName.test(form.replace(separators, '').toLowerCase())) return false
  const segments = form
    .split(segmentEnd)
    .filter((segment) => segment !== '')
    .map((segment) => segment.toLowerCase())
  if (segments.some((segment) => says.some((word) => word.test(segment)))) return true
  const pairs = segments.slice(1).map((segment, no) => `${segments[no]}${segment}`)
  return isCode.test(segments.join('')) || pairs.some((pair) => inTwo.test(pair))
}

/** What every match below has in it once nothing separates its segments. */
const mayName = /cvv|cvc|cvn|csc|pin|track|securitycode|verificationvalue/
const separators = /[^\p{L}\p{N}]+/gu
const isAscii = /^[\0-\x7f]*$/
const segmentEnd = /[^\p{L}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

/**
 * Matches a whole segment, or its beginning or end. CS-Cart is a shop; tracking, pinned and pincode
 * are words.
 */
const says = [
  /^(?:cvv|cvc|cvn|csc(?!art))/,
  /(?:cvv|cvc|cvn|csc)[0-9]?$/,
  /^(?:card)?pin[0-9]{0,2}$/,
  /^track(?:$|[12])/,
  /securitycode|pinblock|verificationvalue/,
]
const isCode = /^(?:cvv|cvc|cvn|csc|pin)[0-9]?$/
const inTwo = /^(?:securitycode|pinblock|verificationvalue)/

/** Whether a value has a query or a fragment, or anything in escapes, or is JSON. */
export const mayHoldNames = (value: string): boolean =>
  /[?#&%]/.test(value) || beginsJson.test(value)

/** Names within a value and its layers of escapes: query parameters, and keys of JSON objects. */
export function namesWithin(layers: readonly string[]): Iterable<string> {
  const all = new Set<string>()
  for (const layer of layers) {
    for (const name of queryNames(layer)) all.add(name)
    for (const name of jsonKeys(layer)) all.add(name)
  }
  return all
}

const beginsJson = /^\s*["[{]/

/** Names before `=` in the query and in the fragment of a URL. */
function* queryNames(url: string): Generator<string> {
  if (!isUrl.test(url)) return
  for (const part of url.split(/[?#&;]/).slice(1)) {
    const end = part.indexOf('=')
    if (end > 0) yield part.slice(0, end)
  }
}

const isUrl = /^\s*[a-z][a-z0-9+.-]*:/i

/**
 * The keys of all objects, also of JSON within a text. Not recursive, since the sender chooses the
 * depth.
 */
function* jsonKeys(text: string): Generator<string> {
  const left: unknown[] = [text]
  while (left.length > 0) {
    const part = left.pop()
    if (typeof part === 'string') {
      const held = objectOf(part)
      if (held !== undefined) left.push(held)
    } else if (typeof part === 'object' && part !== null) {
      if (!Array.isArray(part)) yield* Object.keys(part)
      for (const inner of Object.values(part)) left.push(inner)
    }
  }
}

function objectOf(text: string): unknown {
  if (!beginsJson.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
