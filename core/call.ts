/** Raw calls of operations, and the valid requests in them. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { type Answers, resultDescription } from '@tollgate/schemas'
import type { Caller } from './caller/caller.ts'
import {
  goesByPaymentType,
  refuseUnlessMay,
  refuseUnlessMayMake,
  refuseUnlessMayName,
} from './caller/rights.ts'
import type { Engine } from './engine.ts'
import { bodyInput, type RequestInput } from './request/decode.ts'
import { openRequest } from './request/parse.ts'

/** A request as received, not decoded yet. */
export type Call = {
  /** Path of the endpoints table, for operations with several paths. */
  readonly route?: string
  /** Values of `{…}` in the path. */
  readonly path?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly contentType?: string | undefined
  /** Query string without the question mark. */
  readonly query?: string
  readonly idempotencyKey?: string | undefined
  /** True when the client has gone, or the process ends. */
  readonly isGone?: () => boolean
  /** The gateway's number of this request, shown as `ndc`: letters, digits and hyphens. */
  readonly requestId: string
  /** The client's address. */
  readonly address?: string | undefined
  /** The client's `Accept` header, for operations of shoppers' browsers. */
  readonly accept?: string | undefined
}

export type Reply = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Answered | Readonly<Record<string, unknown>>
  /** Sent instead of the body: an answer of any size, which is made while it is read. */
  readonly stream?: ReplyStream
}

export type ReplyStream = {
  /** Content type. */
  readonly type: string
  /** Its whole length, if known. */
  readonly bytes?: number
  /** An error or an early end of the iteration ends the work behind it. */
  open(): AsyncIterable<Uint8Array>
}

export type ResultView = {
  code: string
  description: string
  avsResponse?: string
  cvvResponse?: string
  parameterErrors?: readonly { name: string; value?: string; message: string }[]
}

/** The result of every list, also of an empty one. */
export const listResult = (): ResultView => ({
  code: '000.000.100',
  description: resultDescription('000.000.100'),
})

/** Fields of every response. */
export type Answered = {
  id: string
  result: ResultView
  buildNumber: string
  timestamp: string
  ndc: string
}

/** The answer of an operation, and which of its fields are always there. */
export type ViewOf<
  Operation extends keyof Answers,
  Always extends keyof Answers[Operation] = never,
> = ViewOfAnswer<Answers[Operation], Always>

/** The same for one of several answers of an operation. */
export type ViewOfAnswer<Answer, Always extends keyof Answer = never> = Omit<
  Answer,
  keyof Answered | Always
> &
  Answered &
  Required<Pick<Answer, Always>>

/** A view in the making; the field tables say what it may hold. */
export type Draft = Answered & { [field: string]: unknown }

export type Handler = (engine: Engine, caller: Caller, call: Call, build: string) => Promise<Reply>

/** A valid request. */
export type Request = {
  readonly fields: RequestFields
  /** Flat, as sent, for the comparison of repeats and the search for the card's own number. */
  readonly names: readonly (readonly [name: string, value: string])[]
  /** The gateway's number of the request, by which operators find what it made. */
  readonly ndc?: string
}

/**
 * Reads a valid request of a caller with the right to it and to its entity. 403 comes before 400.
 * Every request passes here, hosted or embedded.
 */
export async function read(
  engine: Engine,
  caller: Caller,
  operation: string,
  input: RequestInput,
): Promise<Request> {
  refuseUnlessMay(engine, caller, operation)
  const opened = openRequest(operation, input)
  refuseUnlessMayName(engine, caller, operation, opened.holds)
  if (goesByPaymentType(operation)) refuseUnlessMayMake(engine, caller, opened.paymentTypes())
  await engine.directory.mayName(caller, opened.entityId)
  const { request, names } = opened.check()
  const { ndc } = input
  return { fields: request as RequestFields, names, ...(ndc === undefined ? {} : { ndc }) }
}

export function queryOf({ query = '', contentType, body }: Call): RequestInput {
  const hasBody = body !== undefined && body.length > 0
  return { query, ...(hasBody ? { beside: bodyInput(contentType, body) } : {}) }
}

export const idIn = (call: Call) => call.path?.id ?? ''

export function bodyOf(call: Call): RequestInput {
  const { query = '', requestId: ndc } = call
  const input = bodyInput(call.contentType, call.body ?? new Uint8Array())
  return { ...input, ndc, ...(query === '' ? {} : { beside: { query } }) }
}
