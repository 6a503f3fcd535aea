import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'

/** The front's change of the answer. */
export type Damage =
  /** No answer; the connection stays open. */
  | { readonly do: 'silence' }
  | { readonly do: 'reset' }
  /** Half of the answer, then the connection closes, or stays open without another byte. */
  | { readonly do: 'cut' | 'stall' }
  /** The whole answer, byte by byte. */
  | { readonly do: 'drip' }
  /** Another answer, of an intermediate machine. */
  | {
      readonly do: 'replace'
      readonly status: number
      readonly type: string
      readonly body: string
      readonly location?: string
    }
  /** The request's own body as an error, as careless servers return it. */
  | { readonly do: 'echo' }
  | { readonly do: 'change'; readonly change: (body: string) => string }
  /** An earlier answer, whole, with its status and its headers: answers were mixed up. */
  | { readonly do: 'mixUp'; readonly answer: Answer }

/** One fault of the line. `reaches`: whether the acquirer gets the request. */
export type Fault = { readonly reaches: boolean; readonly damage: Damage }

/** An answer of the acquirer to the front. */
export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Buffer
}

/**
 * Sends an answer with the damage of a fault. Resolves after the last byte.
 *
 * @param answer undefined when the acquirer was never asked
 */
export async function sendDamaged(
  response: ServerResponse,
  damage: Damage,
  request: Buffer,
  answer: Answer = { status: 200, headers: {}, body: Buffer.alloc(0) },
): Promise<void> {
  const { status, headers, body } = answer
  const half = body.subarray(0, body.length >> 1)
  const head = (length: number) =>
    response.writeHead(status, { ...headers, 'content-length': length })
  switch (damage.do) {
    case 'silence':
      return
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'cut':
    case 'stall':
      head(body.length)
      await new Promise<void>((written) => response.write(half, () => written()))
      if (damage.do === 'cut') response.socket?.destroy()
      return
    case 'drip':
      response.socket?.setNoDelay(true)
      head(body.length)
      for (const byte of body) {
        if (response.destroyed) return
        response.write(Buffer.of(byte))
        await setImmediate()
      }
      response.end()
      return
    case 'replace': {
      const { type, location } = damage
      const also = location === undefined ? {} : { location }
      response.writeHead(damage.status, { 'content-type': type, ...also }).end(damage.body)
      return
    }
    case 'mixUp': {
      const { answer: other } = damage
      response.writeHead(other.status, { ...other.headers, 'content-length': other.body.length })
      response.end(other.body)
      return
    }
    case 'echo':
      response.writeHead(400, { 'content-type': 'application/json' }).end(request)
      return
    case 'change': {
      const changed = Buffer.from(damage.change(body.toString('utf8')))
      head(changed.length)
      response.end(changed)
    }
  }
}
