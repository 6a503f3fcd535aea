/** An SSH connection to a server with a pinned host key. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { connect } from 'node:net'
import { type TransferContext, TransferError, type TransferTarget } from '@tollgate/plugin-kit'
import { type Algorithms, Client } from 'ssh2'
import { checkLoginKey, isQuick, unreadable } from './key-sizes.ts'
import { limitServer } from './server-limits.ts'
import { stepsOf } from './steps.ts'

/**
 * The server must not choose what takes long: packets that unpack to a thousand times their size, before the
 * login, or Diffie-Hellman over numbers of its own.
 */
const algorithms: Algorithms = {
  compress: ['none'],
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
  ],
}

export type Connected = {
  readonly client: Client
  /** Rejects when the connection ends. */
  readonly lost: Promise<never>
  /** To be called for every answer of SFTP: the server may send more before the next one. */
  answered(): void
  /** Ends the connection at once, also when its end has begun: `client.destroy()` does nothing then. */
  cut(): void
}

/** Servers with a password alone ask for it once. Some ask again, for a new one. */
const mostQuestions = 4
const mostPrompts = 4

/** `SHA256:` and the digest in base64 without padding, as `ssh-keygen -lf` shows it. */
export const fingerprintOf = (key: Uint8Array): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replaceAll('=', '')}`

/**
 * Connects to the checked address, proves the server by its host key, and logs in.
 *
 * @throws TransferError
 */
export async function connectSsh(
  target: TransferTarget,
  context: TransferContext,
): Promise<Connected> {
  const pinned = target.hostKeys ?? []
  if (pinned.length === 0) {
    throw new TransferError('wrong-server', 'no host key is pinned for the server')
  }
  const privateKey = target.privateKey?.reveal()
  if (privateKey !== undefined) checkLoginKey(privateKey)
  const client = new Client()
  let cut = () => {}
  const steps = stepsOf(context, () => cut())
  const address = await steps.wait(
    'the look-up of the name',
    context.addressOf(target.host, target.port),
  )
  let shown: string | undefined
  let isProven = false
  let isSlow = false
  let end = (_: TransferError) => {}
  const lost = new Promise<never>((_, reject) => {
    end = (error) => {
      reject(error)
      cut()
    }
    client.on('error', (error) => reject(error))
    client.on('close', () => reject(new TransferError('closed', 'the server ended the connection')))
  })
  lost.catch(() => {})
  const ready = new Promise<void>((resolve) => client.once('ready', resolve))
  const password = target.password?.reveal()
  if (password !== undefined) {
    let questions = 0
    // Some servers ask for the password in a dialogue only.
    client.on('keyboard-interactive', (_name, _text, _language, prompts, answer) => {
      questions += 1
      if (questions <= mostQuestions && prompts.length <= mostPrompts) {
        return answer(prompts.map(() => password))
      }
      const text = `${target.host} asks for more than a password at the login of ${target.user}`
      end(new TransferError('login', text))
    })
  }
  try {
    const sock = connect(target.port, address)
    // Each step waits for an answer: a small packet that waits for the last one to be acknowledged costs 40 ms.
    sock.setNoDelay(true)
    cut = () => sock.destroy()
    const limits = limitServer(sock, target.host, end)
    client.connect({
      sock,
      username: target.user,
      algorithms,
      ...(password === undefined ? {} : { password, tryKeyboard: true }),
      ...(privateKey === undefined ? {} : { privateKey }),
      hostVerifier: (key: Buffer) => {
        shown = fingerprintOf(key)
        isProven = pinned.some((one) => isSame(one, shown!))
        isSlow = isProven && !isQuick(key)
        return isProven && !isSlow
      },
      // The steps have limits of their own.
      readyTimeout: 0,
      keepaliveInterval: 0,
    })
    await steps.wait('the connection and the login', Promise.race([ready, lost]))
    limits.loggedIn()
    return { client, lost, answered: limits.answered, cut }
  } catch (error) {
    cut()
    if (TransferError.is(error) && error.code !== 'closed') throw error
    if (isSlow) throw tooLarge(target.host, error)
    throw reasonOf(error, target, shown, isProven)
  }
}

const tooLarge = (host: string, cause: unknown) =>
  new TransferError(
    'protocol',
    `the RSA host key of ${host} has more than 8192 bits or an unusual exponent`,
    { cause },
  )

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function reasonOf(
  error: unknown,
  { host, port, user }: TransferTarget,
  shown: string | undefined,
  isProven: boolean,
): TransferError {
  const { level, code } = (error ?? {}) as { level?: string; code?: string }
  const options = { cause: error }
  if (shown !== undefined && !isProven) {
    return new TransferError(
      'wrong-server',
      `the host key of ${host} is ${shown}, and another one is pinned`,
      options,
    )
  }
  if (level === 'client-authentication') {
    const text = `${host} does not accept the login of ${user}`
    return new TransferError('login', text, options)
  }
  if (level === 'client-socket' && shown === undefined) {
    const why = /^[A-Z0-9_]{1,40}$/.test(code ?? '') ? ` (${code})` : ''
    const text = `no connection to ${host}, port ${port}${why}`
    return new TransferError('unreachable', text, options)
  }
  if (level === 'handshake' || level === 'protocol') {
    const text = `${host} shares no secure SSH algorithms, or is no SSH server`
    return new TransferError('protocol', text, options)
  }
  if (error instanceof Error && /private ?key/i.test(error.message)) {
    return unreadable(error)
  }
  return new TransferError('closed', `${host} ended the connection before the login`, options)
}
