/** Passwords as they are stored: digests by scrypt, each with the parameters it was made with. */
import { scrypt, timingSafeEqual } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import { GatewayError } from '../errors.ts'
import { newSalt } from '../ids.ts'

type Parameters = {
  readonly logRounds: number
  readonly blockSize: number
  readonly parallel: number
}

type Stored = Parameters & { readonly salt: Buffer; readonly digest: Buffer }

const digestBytes = 32
const saltBytes = 16

/** What a digest may cost to check: a row that says more was not written by us. */
const most: Parameters = { logRounds: 20, blockSize: 16, parallel: 16 }

/**
 * The same characters give the same password, whichever way a keyboard composes them.
 *
 * @throws GatewayError 400 naming what a password has to have.
 */
export function checkPassword(field: string, password: string, name: string): void {
  const { min, max } = limits.passwordCharacters
  const text = password.normalize('NFKC')
  const count = [...text].length
  const problem =
    count < min || count > max
      ? `must have ${min} to ${max} characters`
      : !/\p{L}/u.test(text) || !/\p{N}/u.test(text)
        ? 'must have a letter and a digit'
        : text.toLowerCase().includes(name)
          ? 'must not contain the name'
          : new Set(text).size < 5
            ? 'must have five different characters'
            : undefined
  if (problem === undefined) return
  throw new GatewayError('200.300.404', {
    parameterErrors: [{ name: field, message: problem }],
    description: `${field} ${problem}`,
  })
}

/**
 * The checks of one process. A check takes tens of megabytes and a core for a tenth of a second: of
 * those that strangers ask for only so many run at once, and only so many wait.
 */
export class Passwords {
  readonly #parameters: Parameters
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(parameters: Parameters = limits.passwordHash) {
    this.#parameters = parameters
  }

  /** What is stored of a password. @throws GatewayError 429 */
  async digest(password: string): Promise<string> {
    const salt = newSalt(saltBytes)
    return written({ ...this.#parameters, salt, digest: await this.#derive(password, salt) })
  }

  /**
   * Whether it is the password. Where there is none to compare with it takes as long and is not.
   *
   * @throws GatewayError 429
   */
  async matches(password: string, text: string | undefined): Promise<boolean> {
    const stored = text === undefined ? undefined : read(text)
    const { salt, ...parameters } = stored ?? { ...this.#parameters, salt: Buffer.alloc(saltBytes) }
    const digest = await this.#derive(password, salt, parameters)
    return (
      timingSafeEqual(digest, stored?.digest ?? Buffer.alloc(digestBytes)) && stored !== undefined
    )
  }

  /** True for one that was made with other parameters than those of now. */
  isOld(text: string): boolean {
    const stored = read(text)
    return (
      stored === undefined ||
      (['logRounds', 'blockSize', 'parallel'] as const).some(
        (name) => stored[name] !== this.#parameters[name],
      )
    )
  }

  async #derive(password: string, salt: Buffer, parameters = this.#parameters): Promise<Buffer> {
    await this.#turn()
    try {
      return await scryptOf(password.normalize('NFKC'), salt, parameters)
    } finally {
      this.#running -= 1
      this.#waiting.shift()?.()
    }
  }

  async #turn(): Promise<void> {
    if (this.#running >= limits.passwordsAtOnce) {
      if (this.#waiting.length >= limits.passwordsWaiting) {
        throw new GatewayError('800.120.100', { status: 429, retryAfterSeconds: 5 })
      }
      await new Promise<void>((go) => this.#waiting.push(go))
    }
    this.#running += 1
  }
}

function scryptOf(
  password: string,
  salt: Buffer,
  { logRounds, blockSize, parallel }: Parameters,
): Promise<Buffer> {
  const N = 2 ** logRounds
  // Node refuses what needs more than 32 MiB unless it is told to.
  const maxmem = 128 * N * blockSize + 128 * blockSize * parallel + 1024 * 1024
  return new Promise((resolve, reject) => {
    scrypt(password, salt, digestBytes, { N, r: blockSize, p: parallel, maxmem }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })
}

const written = ({ logRounds, blockSize, parallel, salt, digest }: Stored): string =>
  `$scrypt$ln=${logRounds},r=${blockSize},p=${parallel}$${salt.toString('base64')}$${digest.toString('base64')}`

/** Undefined for what is no digest of ours, or one that would cost more than any. */
function read(text: string): Stored | undefined {
  const found =
    /^\$scrypt\$ln=([0-9]{1,2}),r=([0-9]{1,2}),p=([0-9]{1,2})\$([A-Za-z0-9+/]{22}==)\$([A-Za-z0-9+/]{43}=)$/.exec(
      text,
    )
  if (found === null) return undefined
  const [, logRounds = '', blockSize = '', parallel = '', salt = '', digest = ''] = found
  const stored = {
    logRounds: Number(logRounds),
    blockSize: Number(blockSize),
    parallel: Number(parallel),
    salt: Buffer.from(salt, 'base64'),
    digest: Buffer.from(digest, 'base64'),
  }
  const isOurs = (['logRounds', 'blockSize', 'parallel'] as const).every(
    (name) => stored[name] >= 1 && stored[name] <= most[name],
  )
  return isOurs ? stored : undefined
}
