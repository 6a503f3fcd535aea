import type { GatewayEvent, Log } from '@tollgate/plugin-kit'

export type EventHandler = (event: GatewayEvent) => void

/**
 * Publishes the events of this process after their commit. A crash can lose them. A handler's
 * error is logged.
 */
export class EventBus {
  readonly #handlers = new Set<EventHandler>()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  on(handler: EventHandler): () => void {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  get wanted(): boolean {
    return this.#handlers.size > 0
  }

  emit(event: GatewayEvent): void {
    for (const handler of this.#handlers) {
      try {
        const result: unknown = handler(event)
        if (result instanceof Promise) result.catch((error: unknown) => this.#failed(event, error))
      } catch (error) {
        this.#failed(event, error)
      }
    }
  }

  #failed(event: GatewayEvent, error: unknown): void {
    const kind = error instanceof Error ? error.name : typeof error
    this.#log.warn(
      { event: event.type, resource: event.resource, error: kind },
      'an event handler failed',
    )
  }
}
