import { escapedWidth, unescaped } from './escapes.ts'
import { maskCardNumbers } from './mask.ts'

/** The replacement of a secret. */
export const hidden = '[sensitive]'

/** Below this many characters a secret is likely to be part of other values by chance. */
const shortSecret = 6

/** Secrets that were seen, and texts without them. */
export type Scrubber = {
  /** Text, a number, or a structure of them. */
  know(secret: unknown): void
  scrub(text: string): string
  /** Length of the longest spelling that a known secret may have in a text. */
  longest(text: string): number
}

/** How often a text may be escaped within another: XML in JSON in a form. */
const mostLayers = 4

/**
 * Removes what must not be kept from a text: every known secret in any spelling a body can give it,
 * values whose name says that they are secret, and card numbers. A short secret takes the letters and
 * digits around it along, because the rest of a value that held it by chance would tell it.
 */
export function createScrubber(): Scrubber {
  const secrets = new Set<string>()
  let spelled: readonly string[] | undefined
  /** Longest first: a secret may contain another one. */
  const spellings = (): readonly string[] => {
    spelled ??= [...new Set([...secrets].flatMap(spellingsOf))].sort(
      (one, other) => other.length - one.length,
    )
    return spelled
  }
  const know = (secret: unknown, depth = 0): void => {
    if (typeof secret === 'object' && secret !== null && depth < 8) {
      for (const part of Object.values(secret)) know(part, depth + 1)
    }
    if (typeof secret !== 'string' && typeof secret !== 'number') return
    const text = String(secret)
    if (text === '') return
    secrets.add(text)
    spelled = undefined
  }
  const withoutSecrets = (text: string): string => {
    let result = text
    for (const spelling of spellings()) {
      result =
        spelling.length < shortSecret
          ? replaceWithRun(result, spelling)
          : result.replaceAll(spelling, hidden)
    }
    return hideNamed(result)
  }
  return {
    know: (secret) => know(secret),
    longest: (text) =>
      (spellings()[0]?.length ?? 0) * (unescaped(text) === text ? 1 : escapedWidth),
    scrub(text) {
      let bare = withoutSecrets(text)
      let shown = maskCardNumbers(bare)
      // Escapes can write any character in many ways, so each layer is decoded, and a text with a
      // hidden secret is shown decoded and scrubbed. Card numbers are masked last: digits of
      // escapes resemble card numbers, and an early mask would hide a secret from the search.
      for (let layer = 0; layer < mostLayers; layer += 1) {
        const next = unescaped(bare)
        if (next === bare) break
        bare = withoutSecrets(next)
        const masked = maskCardNumbers(bare)
        if (masked !== next) shown = masked
      }
      return shown
    },
  }
}

function spellingsOf(text: string): string[] {
  const well = text.toWellFormed()
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(well),
    new URLSearchParams({ v: well }).toString().slice(2),
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  ]
}

/** Linear in the text, which a pattern for the same would not be. */
function replaceWithRun(text: string, secret: string): string {
  let result = ''
  let copied = 0
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, copied)) {
    let start = at
    let end = at + secret.length
    while (start > copied && isLetterOrDigit(text[start - 1]!)) start--
    while (end < text.length && isLetterOrDigit(text[end]!)) end++
    result += text.slice(copied, start) + hidden
    copied = end
  }
  return result + text.slice(copied)
}

function isLetterOrDigit(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character)
}

const secretNames = new Set([
  'auth',
  'cid',
  'cookie',
  'csc',
  'cvn',
  'pan',
  'pin',
  'pwd',
  'setcookie',
])
const secretParts =
  /password|passwd|passphrase|secret|token|authorization|credential|apikey|accesskey|privatekey|cvv|cvc|securitycode|verificationid|cardnumber|accountnumber|iban|cryptogram/

/** Whether a header, field or element of this name holds what must not be shown. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9:]/g, '')
  const local = plain.slice(plain.lastIndexOf(':') + 1)
  return secretNames.has(local) || secretParts.test(local)
}

/** `"name": value`, `name=value` and `<name>value<`; a value may be cut off at the end of the text. */
const jsonName = /"([^"\\]{1,64})"\s{0,64}:\s{0,64}/g
const formPair = /((?:^|[?&;\s])([^=&?;\s"'<>]{1,64})=)("[^"]*"?|'[^']*'?|[^&;\s"'<>]+)/g
const element = /(<([\w.:-]{1,64})(?:\s[^<>]{0,512})?>)([^<]+)/g

function hideNamed(text: string): string {
  let result = hideInJson(text)
  for (const pattern of [formPair, element]) {
    result = result.replace(pattern, (all: string, before: string, name: string) =>
      isSecretName(name) ? before + hidden : all,
    )
  }
  return result
}

/** Looks for names within values as well: JSON may stand in a text of JSON. */
function hideInJson(text: string): string {
  let result = ''
  let copied = 0
  jsonName.lastIndex = 0
  for (let found = jsonName.exec(text); found !== null; found = jsonName.exec(text)) {
    if (!isSecretName(found[1]!)) continue
    const start = jsonName.lastIndex
    const end = endOfJson(text, start)
    if (end === start) continue
    result += `${text.slice(copied, start)}"${hidden}"`
    copied = end
    jsonName.lastIndex = copied
  }
  return result + text.slice(copied)
}

/** Where a text, a number or a word of JSON ends; where it begins when there is none. */
function endOfJson(text: string, start: number): number {
  let at = start
  if (text[at] !== '"') {
    while (at < text.length && !/[\s",{}[\]]/.test(text[at]!)) at += 1
    return at
  }
  for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1
  return Math.min(at + 1, text.length)
}
