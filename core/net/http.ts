import type { LookupFunction } from 'node:net'
import { noteAction } from '../call-trace.ts'
import { type Clock, systemClock } from '../clock.ts'
import { type AddressOptions, addressRules, checkUrl } from './address.ts'
import { type CallOptions, createCall, type OutgoingCall } from './call.ts'
import type { ConnectLimits } from './connect.ts'
import type { Exchange } from './exchange.ts'
import { createPool } from './pool.ts'
import { createTransport } from './transport.ts'

export type { CallOptions, HttpMessage, OutgoingCall, Sent } from './call.ts'
export type { TranscriptEntry, TranscriptMessage } from './http-transcript.ts'

export type OutgoingOptions = AddressOptions & {
  /** The engine's name, carried by the messages on the diagnostics channel. */
  name: string
  /** PEM certificates of further authorities to trust. Verification itself cannot be turned off. */
  ca?: readonly string[]
  /** Replaces the machine's resolver. Its addresses are checked as well. */
  lookup?: LookupFunction
  connectLimits?: ConnectLimits
  clock?: Pick<Clock, 'elapsedMs' | 'realMs'>
}

/** Outgoing HTTP of the engine: one pool of connections, one set of rules. */
export type Outgoing = {
  /** The `http` of one call of a connector. */
  forCall(call: CallOptions): OutgoingCall
  /** Aborts running requests, refuses further ones, and waits for the end of all connections. */
  close(): Promise<void>
}

/** @throws Error when an entry of `allow` or a certificate of `ca` cannot be read. */
export function createOutgoing(options: OutgoingOptions): Outgoing {
  const rules = addressRules(options)
  const pool = createPool({
    rules,
    ...(options.ca && { ca: options.ca }),
    ...(options.lookup && { lookup: options.lookup }),
    ...(options.connectLimits && { limits: options.connectLimits }),
  })
  const transport = createTransport(pool)
  const running = new Map<Exchange, Promise<unknown>>()
  let closed = false

  const track = <T>(exchange: Exchange, work: Promise<T>): Promise<T> => {
    running.set(exchange, work)
    const forget = () => void running.delete(exchange)
    work.then(forget, forget)
    return work
  }
  const shared = {
    transport,
    track,
    checkUrl: (url: string) => checkUrl(url, rules),
    engine: options.name,
    clock: options.clock ?? systemClock,
    isClosed: () => closed,
  }
  return {
    forCall(call) {
      noteAction()
      return createCall(call, shared)
    },
    async close() {
      closed = true
      const ending = [...running.values()]
      for (const exchange of running.keys()) exchange.fail('aborted', 'The engine is closing.')
      await Promise.allSettled(ending)
      await pool.close()
    },
  }
}
