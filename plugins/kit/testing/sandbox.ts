import type { Reason } from '@tollgate/schemas'
import type { Inbound, Instrument, Kind, Records, RequestFields } from '../connector.ts'
import type { Money, Redirect } from '../outcome.ts'

/** What is paid with, and for how much. Use test numbers: they are looked for in everything said. */
export type Scene = {
  readonly instrument: Instrument
  /** 92.00 EUR unless given. */
  readonly amount?: Money
  readonly request?: RequestFields
  /** Handlers it can be paid with; all of authorize, debit, credit and verify unless given. */
  readonly kinds?: readonly Kind[]
}

/**
 * What an author tells the suite about the acquirer that the connector is tested against: a server
 * of yours on this machine, or books inside the process. It never has to misbehave: the suite puts a
 * front between the connector and the acquirer which does that.
 */
export type Sandbox = {
  /** Approved by the acquirer: at least one scene for each of `supports.methods`. */
  readonly approved: readonly Scene[]
  readonly declined: Scene & { readonly reason: Reason }
  /** Done, but its answer gets lost. Only for a connector inside the process, which has no line. */
  readonly lost?: Scene
  /** Stays open until `finish`. Leave it out when the acquirer knows no open payments. */
  readonly pending?: Scene
  /** Sends the shopper away. `forged`: what a cheat writes into the query to look like a payer. */
  readonly redirect?: Scene & { readonly forged: Readonly<Record<string, string>> }
  /**
   * How an answer of the acquirer is changed: body in, body out. Absent for a connector that works
   * inside the process. Answers that are signed must be signed again.
   */
  readonly answers?: {
    /** The same approval, but for this amount. */
    alterAmount(body: string, amount: Money): string
    /** The same answer, with a code that the acquirer's manual does not list. */
    alterCode(body: string): string
    /** Whether answers say which key they are about, so that a mixed-up one can be told. */
    readonly nameTheKey: boolean
  }
  /** Starts the acquirer with empty books, once for each case. */
  open(engine: EngineSide): Promise<Acquirer>
}

/** What an acquirer inside the process shares with the connector. Servers do without. */
export type EngineSide = {
  /** What the connector keeps in `context.records` during this case. */
  readonly records: Records
  /** Business time, milliseconds since 1970: what `context.clock` tells. Setting it moves time. */
  readonly clock: { ms: number }
}

/** One thing that the acquirer did and that still stands. */
export type Booking = {
  /** Key of the operation as it reached the acquirer. */
  readonly key: string
  readonly amount: Money
}

/** An acquirer that was started for one case. */
export type Acquirer = {
  /** Where it listens: plain http on this machine. Absent when it works inside the process. */
  readonly url?: string
  /** Settings that lead a connector to `url`, which is the front's in front of yours. */
  settings(url: string): {
    readonly config: Readonly<Record<string, unknown>>
    readonly account: Readonly<Record<string, unknown>>
  }
  /** An account whose credentials the acquirer refuses. Needed where the connector has `check`. */
  readonly wrongAccount?: Readonly<Record<string, unknown>>
  /**
   * The truth, from the acquirer's own books: everything it carried out (authorisations, debits,
   * credits, captures, refunds, reversals, increments) except what was undone by key.
   */
  bookings(): Promise<readonly Booking[]>
  /** Approves an open operation. Needed with `pending`. */
  finish?(key: string): Promise<void>
  /** The shopper goes where the redirect leads and pays. Answers with the query of the return. */
  shopper?(key: string, redirect: Redirect['redirect']): Promise<Readonly<Record<string, string>>>
  /** The message that tells what became of a key by now. Needed with `inbound`. */
  event?(key: string): Promise<Inbound>
  close(): Promise<void>
}
