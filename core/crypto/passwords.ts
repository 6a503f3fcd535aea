/** Stored passwords: scrypt digests, each with its own parameters. */
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

/** The highest cost of a check: a row with more was not written by the engine. */
const most: Parameters = { logRounds: 20, blockSize: 16, parallel: 16 }

/**
 * Normalises the password, so that the same characters match regardless of the keyboard.
 *
 * @throws GatewayError 400 naming the requirements of a password.
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

/** An admitted check. The caller leaves the place once, with any result. */
export type Place = {
  matches(password: string, text: string | undefined): Promise<boolean>
  digest(password: string): Promise<string>
  leave(): void
}

/**
 * The password checks of one process. A check takes tens of megabytes and a core for a tenth of a
 * second, so the numbers of running and waiting checks are limited. Logins have a queue of their
 * own, so that logged-in people cannot block them. In the other queue, each person has a few
 * places.
 */
export class Passwords {
  readonly #parameters: Parameters
  readonly #logins = new Queue(limits.passwordsAtOnce, limits.passwordsWaiting)
  readonly #work = new Queue(1, limits.passwordsWaiting)

  constructor(parameters: Parameters = limits.passwordHash) {
    this.#parameters = parameters
  }

  /** A place for a login, taken before the attempt counts. @throws GatewayError 429 */
  forLogin(): Place {
    return this.#place(this.#logins, undefined)
  }

  /**
   * A place for a person who is already logged in.
   *
   * @param person undefined for the machine's own users and the embedding program.
   * @throws GatewayError 429
   */
  forWork(person?: string): Place {
    return this.#place(this.#work, person)
  }

  /** The digest of a password for storage. @throws GatewayError 429 */
  async digest(password: string, person?: string): Promise<string> {
    return within(this.forWork(person), (place) => place.digest(password))
  }

  /**
   * Whether the password matches. Without a digest the check takes as long and fails.
   *
   * @throws GatewayError 429
   */
  async matches(password: string, text: string | undefined): Promise<boolean> {
    return within(this.forWork(), (place) => place.matches(password, text))
  }

  /** True for digests with outdated parameters. */
  isOld(text: string): boolean {
    const stored = read(text)
    return (
      stored === undefined ||
      (['logRounds', 'blockSize', 'parallel'] as const).some(
        (name) => stored[name] !== this.#parameters[name],
      )
    )
  }

  #place(queue: Queue, person: string | undefined): Place {
    const leave = queue.enter(person)
    const derive = (password: string, salt: Buffer, parameters: Parameters) =>
      queue.inTurn(() => scryptOf(password.normalize('NFKC'), salt, parameters))
    const usual = this.#parameters
    return {
      leave,
      async digest(password) {
        const salt = newSalt(saltBytes)
        return written({ ...usual, salt, digest: await derive(password, salt, usual) })
      },
      async matches(password, text) {
        const stored = text === undefined ? undefined : read(text)
        const { salt, ...parameters } = stored ?? { ...usual, salt: Buffer.alloc(saltBytes) }
        const digest = await derive(password, salt, parameters)
        const isSame = timingSafeEqual(digest, stored?.digest ?? Buffer.alloc(digestBytes))
        // An older, cheaper digest would tell by its time that its name exists.
        for (const missing of missingWork(parameters, usual)) await derive(password, salt, missing)
        return isSame && stored !== undefined
      },
    }
  }
}

async function within<T>(place: Place, work: (place: Place) => Promise<T>): Promise<T> {
  try {
    return await work(place)
  } finally {
    place.leave()
  }
}

class Queue {
  readonly #atOnce: number
  readonly #most: number
  readonly #ofPerson = new Map<string, number>()
  readonly #waiting: (() => void)[] = []
  #entered = 0
  #running = 0

  constructor(atOnce: number, waiting: number) {
    this.#atOnce = atOnce
    this.#most = atOnce + waiting
  }

  /** @returns a function to call at the end. @throws GatewayError 429 */
  enter(person: string | undefined): () => void {
    const own = person === undefined ? 0 : (this.#ofPerson.get(person) ?? 0)
    if (this.#entered >= this.#most || own >= limits.passwordsPerPerson) {
      throw new GatewayError('800.120.100', { status: 429, retryAfterSeconds: 5 })
    }
    this.#entered += 1
    if (person !== undefined) this.#ofPerson.set(person, own + 1)
    return () => {
      this.#entered -= 1
      if (person === undefined) return
      const left = this.#ofPerson.get(person)! - 1
      if (left > 0) this.#ofPerson.set(person, left)
      else this.#ofPerson.delete(person)
    }
  }

  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    // A finished check passes its turn on, so that no newcomer takes it.
    if (this.#running < this.#atOnce) this.#running += 1
    else await new Promise<void>((go) => this.#waiting.push(go))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}

/**
 * The derivations that an older digest lacks to cost as much as one of now: rounds double, so one
 * derivation for each step from the older number of rounds adds up. Costs of other shapes are left.
 */
function missingWork(older: Parameters, usual: Parameters): Parameters[] {
  if (older.blockSize !== usual.blockSize || older.parallel !== usual.parallel) return []
  const steps = Math.max(0, usual.logRounds - older.logRounds)
  return Array.from({ length: steps }, (_, step) => ({
    ...older,
    logRounds: older.logRounds + step,
  }))
}

function scryptOf(
  password: string,
  salt: Buffer,
  { logRounds, blockSize, parallel }: Parameters,
): Promise<Buffer> {
  const N = 2 ** logRounds
  // Node refuses more than 32 MiB by default.
  const maxmem = 128 * N * blockSize + 128 * blockSize * parallel + 1024 * 1024
  return new Promise((resolve, reject) => {
    scrypt(password, salt, digestBytes, { N, r: blockSize, p: parallel, maxmem }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })
}

const written = ({ logRounds, blockSize, parallel, salt, digest }: Stored): string =>
  `$scrypt$ln=${logRounds},r=${blockSize},p=${parallel}$${salt.toString('base64')}$${digest.toString('base64')}`

/** Undefined for a text that is no digest, or whose cost exceeds the limit. */
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
