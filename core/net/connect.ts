import { lookup as resolveName } from 'node:dns'
import { isIP, type LookupFunction, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { AddressRules } from './address.ts'
import type { Exchange } from './exchange.ts'

/** How long each step of connecting may take. Nothing is sent in them, so giving up early is safe. */
export type ConnectLimits = {
  readonly lookupMs: number
  readonly connectMs: number
  readonly secureMs: number
}
const defaultLimits: ConnectLimits = { lookupMs: 5000, connectMs: 5000, secureMs: 5000 }

export type ConnectOptions = {
  readonly rules: AddressRules
  /** Resolves names. Default: the machine's resolver. */
  readonly lookup?: LookupFunction
  readonly limits?: ConnectLimits
}

/** The destination and purpose. `host` is a name or an address, without brackets. */
export type Opening = {
  readonly host: string
  readonly port: number
  readonly protocol: 'https:' | 'http:'
  readonly exchange: Exchange
}

type Address = { readonly address: string; readonly family: number }

/**
 * Returns a connected socket. Node returns sockets that still connect and buffers the request's
 * bytes until the handshake is done, so that the send-by time could not be checked after
 * connecting, and a failed connection could not prove that no byte was written. The name is
 * resolved once, every address is checked, only checked ones are connected to, and the reached
 * address is checked again.
 *
 * @throws HttpError the failure of the exchange; no byte of the request was written.
 */
export async function openSocket(
  { host, port, protocol, exchange }: Opening,
  connect: (lookup: LookupFunction) => Duplex | null | undefined,
  { rules, lookup = resolveName as LookupFunction, limits = defaultLimits }: ConnectOptions,
): Promise<Socket> {
  const check = (addresses: readonly Address[]) => {
    if (addresses.length > 0 && addresses.every((a) => rules.permits(a.address, protocol, port)))
      return
    throw exchange.fail('refused-address', `${host} does not lead to a public address.`)
  }
  const addresses = isIP(host)
    ? [{ address: host, family: isIP(host) }]
    : await within<readonly Address[]>(
        exchange,
        { ms: limits.lookupMs, action: `Looking up ${host}` },
        (done, failed) =>
          lookup(host, { all: true }, (error, found, family) => {
            if (error) failed(error)
            else done(typeof found === 'string' ? [{ address: found, family: family ?? 0 }] : found)
          }),
      )
  check(addresses)
  const socket = connect(answerWith(addresses))
  if (!(socket instanceof Socket)) throw exchange.fail('not-sent', 'No socket could be made.')
  socket.on('error', heardElsewhere)
  try {
    await ready(socket, 'connect', exchange, {
      ms: limits.connectMs,
      action: `Connecting to ${host}`,
    })
    check([{ address: socket.remoteAddress ?? '', family: 0 }])
    if (protocol === 'https:') {
      const action = `The TLS handshake with ${host}`
      await ready(socket, 'secureConnect', exchange, { ms: limits.secureMs, action })
    }
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** An error after the hand-over reaches the request by its own listener. */
function heardElsewhere(): void {}

/** Every byte asks the exchange that owns the socket right before it goes to the kernel. */
export function guardWrites(socket: Socket, owner: () => Exchange | undefined): void {
  const write = socket._write.bind(socket)
  const writeMany = socket._writev?.bind(socket)
  const refusal = () => {
    const exchange = owner()
    return exchange === undefined
      ? new Error('the connection has no request')
      : exchange.beforeWrite()
  }
  socket._write = (chunk, encoding, callback) => {
    const refused = refusal()
    if (refused) callback(refused)
    else write(chunk, encoding, callback)
  }
  if (writeMany === undefined) return
  socket._writev = (chunks, callback) => {
    const refused = refusal()
    if (refused) callback(refused)
    else writeMany(chunks, callback)
  }
}

/** A lookup that knows the addresses already. */
function answerWith(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    const first = addresses[0]!
    if (options.all) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }
}

type Step = { readonly ms: number; readonly action: string }

async function ready(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  exchange: Exchange,
  step: Step,
): Promise<void> {
  let forget = () => {}
  try {
    await within<void>(exchange, step, (done, failed) => {
      const closed = () => failed(new Error('closed'))
      socket.once(event, done).once('error', failed).once('close', closed)
      forget = () => socket.off(event, done).off('error', failed).off('close', closed)
    })
  } finally {
    forget()
  }
}

/** Waits for one step of connecting: its end, its time limit, or the end of the exchange. */
function within<T>(
  exchange: Exchange,
  { ms, action }: Step,
  start: (done: (value: T) => void, failed: (error: NodeJS.ErrnoException) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let over = false
    const finish = (conclude: () => void) => {
      if (over) return
      over = true
      clearTimeout(timer)
      forget()
      conclude()
    }
    const failedAlready = () => finish(() => reject(exchange.failure))
    const timer = setTimeout(
      () => finish(() => reject(exchange.fail('timeout', `${action} took longer than ${ms} ms.`))),
      ms,
    )
    const forget = exchange.onFailure(failedAlready)
    if (exchange.failure !== undefined) return failedAlready()
    start(
      (value) => finish(() => resolve(value)),
      (error) =>
        finish(() => reject(exchange.fail('not-sent', `${action} failed${reasonOf(error)}.`))),
    )
  })
}

/** The system's code of a connection that failed, as its message has it. */
export const systemCodeOf = ({ message }: Error): string | undefined =>
  /failed \(([A-Z0-9_]{1,60})\)\.$/.exec(message)?.[1]

/** Only the code of an error: messages may quote the other side. */
function reasonOf(error: NodeJS.ErrnoException): string {
  return /^[A-Z0-9_]{1,60}$/.test(error.code ?? '') ? ` (${error.code})` : ''
}
