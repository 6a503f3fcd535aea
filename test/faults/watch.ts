/** Checks the permanent rules and tells the progress during a run. */
import { setTimeout as pause } from 'node:timers/promises'
import { listedWhenAsked, type Violation } from './assertions.ts'
import type { History } from './history.ts'
import type { Done, Scene } from './injections.ts'
import { listen } from './telling.ts'

const listenEveryMs = 2_000

export class Watch {
  readonly violations: (Violation & { assertion: string })[] = []
  injected: readonly Done[] = []
  readonly #scene: Scene
  readonly #history: History
  readonly #say: (line: string) => void
  readonly #progressMs: number
  readonly #stopped = new AbortController()
  readonly #looking: Promise<void>

  constructor(scene: Scene, history: History, say: (line: string) => void, progressMs: number) {
    this.#scene = scene
    this.#history = history
    this.#say = say
    this.#progressMs = progressMs
    this.#looking = this.#look()
  }

  async #look(): Promise<void> {
    const { signal } = this.#stopped
    const startedMs = performance.now()
    let nextMs = this.#progressMs
    let nextLookMs = this.#progressMs / 3
    while (!signal.aborted) {
      await pause(listenEveryMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      const ranMs = performance.now() - startedMs
      try {
        // Directs events to a running host.
        await listen(this.#scene)
        if (ranMs < nextLookMs) continue
        nextLookMs = ranMs + this.#progressMs / 3
        const found = await this.#scene.ground.sql<Violation>(listedWhenAsked)
        for (const violation of found.slice(0, 5)) {
          this.violations.push({
            ...violation,
            assertion: 'what stays undecided is on the operators’ list',
          })
        }
      } catch {
        // The database is down, so the next check reports.
      }
      if (ranMs < nextMs) continue
      nextMs += this.#progressMs
      this.#progress(ranMs)
    }
  }

  #progress(ranMs: number): void {
    const { tries, words } = this.#history.counts
    const { started, killed } = this.#scene.crew.counts
    const missed = this.injected.filter(({ result }) => result === 'missed').length
    const megabytes = Math.round(process.memoryUsage().rss / 2 ** 20)
    this.#say(
      `${Math.round(ranMs / 1000)} s: ${words} answers (${Math.round((words * 1000) / ranMs)}/s), ${tries - words} without, ` +
        `${this.injected.length} faults (${missed} missed), ${killed} hosts killed, ${started} started, ${megabytes} MB here`,
    )
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#looking
  }
}
