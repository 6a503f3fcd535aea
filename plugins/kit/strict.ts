/** Strict readers for messages whose bytes are signed or encrypted: one value has one spelling. */

type Members = Readonly<Record<string, unknown>>

/**
 * A JSON object with exactly these members, or undefined. Repeated members are refused as well, because two readers of
 * one text could take different ones.
 *
 * @param may Members that may be absent. `others`: unknown members are allowed and kept.
 */
export function strictJson(
  text: string,
  must: readonly string[],
  may: readonly string[] = [],
  { others = false }: { readonly others?: boolean } = {},
): Members | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
    if (membersIn(value) !== membersOf(text)) return undefined
  } catch {
    // No JSON, or nested too deeply.
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return hasMembers(value as Members, must, may, others) ? (value as Members) : undefined
}

/** The same for an object within such a text. */
export function strictMembers(
  value: unknown,
  must: readonly string[],
  may: readonly string[] = [],
): Members | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return hasMembers(value as Members, must, may, false) ? (value as Members) : undefined
}

function hasMembers(
  value: Members,
  must: readonly string[],
  may: readonly string[],
  others: boolean,
): boolean {
  return (
    must.every((name) => Object.hasOwn(value, name)) &&
    (others || Object.keys(value).every((name) => must.includes(name) || may.includes(name)))
  )
}

/** Outside of texts, a colon stands only between the name and the value of a member. */
function membersOf(json: string): number {
  let members = 0
  let isText = false
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at]
    if (character === '"') isText = !isText
    else if (isText && character === '\\') at += 1
    else if (!isText && character === ':') members += 1
  }
  return members
}

function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value)
  const own = Array.isArray(value) ? 0 : inner.length
  return inner.reduce<number>((sum, one) => sum + membersIn(one), own)
}

/** The bytes of a text in base64 with its padding, or undefined for any other spelling. */
export const strictBase64 = (text: unknown): Buffer | undefined => decoded(text, 'base64')

/** The same in base64url without padding, as in JSON Web Encryption. */
export const strictBase64Url = (text: unknown): Buffer | undefined => decoded(text, 'base64url')

function decoded(text: unknown, encoding: 'base64' | 'base64url'): Buffer | undefined {
  if (typeof text !== 'string') return undefined
  const bytes = Buffer.from(text, encoding)
  return bytes.toString(encoding) === text ? bytes : undefined
}

/** Private keys in one text, each by itself: in PEM, or each as one word with the base64 of its PKCS #8. */
export const pemKeys = (text: string): readonly string[] =>
  text.includes('-----BEGIN ')
    ? pemBlocks(text, (label) => label.endsWith('PRIVATE KEY'))
    : text
        .split(/[\s,]+|\\n/)
        .filter((word) => strictBase64(word)?.[0] === derSequence || word.length > longestNote)
        .map(
          (word) =>
            `-----BEGIN PRIVATE KEY-----\n${word.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END PRIVATE KEY-----\n`,
        )

/** The first byte of each key and certificate in DER. */
const derSequence = 0x30
/** A longer word is a key, also one that lost a character: left out, it would seem to be in use. */
const longestNote = 64

/** Certificates in one PEM text, each by itself. */
export const pemCertificates = (text: string): readonly string[] =>
  pemBlocks(text, (label) => label === 'CERTIFICATE')

function pemBlocks(text: string, isWanted: (label: string) => boolean): readonly string[] {
  const blocks: string[] = []
  let block: string[] | undefined
  // Settings of the environment have one line.
  for (const raw of text.replaceAll('\\n', '\n').split('\n')) {
    const line = raw.trim()
    if (line.startsWith('-----BEGIN ') && isWanted(labelOf(line))) block = []
    block?.push(line)
    if (block === undefined || !line.startsWith('-----END ')) continue
    blocks.push(`${block.join('\n')}\n`)
    block = undefined
  }
  return blocks
}

const labelOf = (line: string) => line.slice('-----BEGIN '.length, -'-----'.length)
