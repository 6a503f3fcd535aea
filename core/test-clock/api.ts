import type { Requests } from '@tollgate/schemas'
import type { ClockRow } from '../business-time/store.ts'
import { type Request, read } from '../call.ts'
import { requireId } from '../caller/call-options.ts'
import type { Caller } from '../caller/caller.ts'
import { buildNumber, callerIn, type RequestOptions } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { advanceTo, type ClockView, clockView, createClock, readClock } from './clocks.ts'

/** Clocks that tests move. Test environment only. */
export class TestClocks {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  readonly create = (
    request: Requests['testClocks.create'],
    options: RequestOptions = {},
  ): Promise<ClockView> =>
    this.#clock('testClocks.create', request, options, (caller, read) =>
      createClock(this.#engine, caller, read),
    )
  readonly get = (id: string, options: RequestOptions = {}): Promise<ClockView> =>
    this.#clock('testClocks.get', {}, options, (caller) => {
      requireId(id)
      return readClock(this.#engine, caller, id)
    })
  /** Starts an advance. A worker then carries out the due work. */
  readonly advance = (
    id: string,
    request: Requests['testClocks.advance'],
    options: RequestOptions = {},
  ): Promise<ClockView> =>
    this.#clock('testClocks.advance', request, options, (caller, read) =>
      advanceTo(this.#engine, caller, id, read),
    )

  async #clock(
    operation: string,
    values: unknown,
    options: RequestOptions,
    work: (caller: Caller, request: Request) => Promise<ClockRow>,
  ): Promise<ClockView> {
    const caller = callerIn(options)
    const row = await work(caller, await read(this.#engine, caller, operation, { values }))
    return clockView(row, {
      ndc: newId(),
      buildNumber,
      now: new Date(this.#engine.clock.realMs()),
    })
  }
}
