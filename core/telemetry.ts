/**
 * Publishes the beginnings and ends of the engine's work on the channels of `@tollgate/plugin-kit`. With
 * nobody listening, it costs one comparison.
 */
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { ChannelName, Channels, Told } from '@tollgate/plugin-kit'
import { systemClock } from './clock.ts'

/** The fields that are known before the work begins. */
export type Begun<Name extends ChannelName> = Omit<Channels[Name], 'durationMs' | 'error'>

type Parts<Name extends ChannelName> = {
  /** The message. Called only while somebody listens. */
  readonly about: () => Begun<Name>
  /** The fields that only the result has. */
  readonly ended?: undefined
}

type PartsWithEnd<Name extends ChannelName, Result> = {
  readonly about: () => Begun<Name>
  readonly ended: (result: Result) => Partial<Channels[Name]>
}

/** One channel, with the means to publish on it. */
export class Telling<Name extends ChannelName> {
  readonly #channel: TracingChannel<unknown, Channels[Name]>

  constructor(name: Name) {
    this.#channel = tracingChannel<unknown, Channels[Name]>(name)
  }

  get isHeard(): boolean {
    return this.#channel.hasSubscribers
  }

  /** Runs `work`. Listeners get a message before it begins and after it has ended. */
  run<Result>(
    work: (message?: Channels[Name]) => Promise<Result>,
    parts: Parts<Name> | PartsWithEnd<Name, Result>,
  ): Promise<Result> {
    return this.#channel.hasSubscribers ? this.#told(work, parts) : work()
  }

  #told<Result>(
    work: (message?: Channels[Name]) => Promise<Result>,
    { about, ended }: Parts<Name> | PartsWithEnd<Name, Result>,
  ): Promise<Result> {
    const message = { ...about() } as Channels[Name] & Told
    const begunMs = systemClock.elapsedMs()
    const { start, error: failed, asyncEnd } = this.#channel
    return start.runStores(message, async () => {
      try {
        const result = await work(message)
        if (ended !== undefined) Object.assign(message, ended(result))
        return result
      } catch (error) {
        message.error = kindOf(error)
        failed.publish(message)
        throw error
      } finally {
        message.durationMs = systemClock.elapsedMs() - begunMs
        asyncEnd.publish(message)
      }
    })
  }
}

/** A text of an error may hold anything, so only its kind is told. */
function kindOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.name).slice(0, 100) : typeof error
  } catch {
    // A hostile object throws on inspection.
    return typeof error
  }
}

export const firstCommits = new Telling('tollgate:first-commit')
export const connectorCalls = new Telling('tollgate:connector-call')
export const settlingCommits = new Telling('tollgate:settling-commit')
export const notifications = new Telling('tollgate:notification')
export const jobRuns = new Telling('tollgate:job')
export const outgoing = new Telling('tollgate:outgoing')
/** Published by the host. */
export const clientRequests = new Telling('tollgate:request')
