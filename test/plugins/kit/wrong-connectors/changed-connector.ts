/** The example connector with some of its parts changed. */
import type {
  Claim,
  Connector,
  Context,
  Http,
  Inbound,
  Kind,
  Operation,
  Outcome,
} from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'

export type Wrong = {
  /** The mistake, as the rest of "a connector that …". */
  readonly what: string
  readonly connector: Connector
  /** Names of the cases that must fail. */
  readonly noticed: readonly string[]
  /** Its handlers never end, so the suite waits in vain. */
  readonly isEndless?: true
}

const kinds = [
  'authorize',
  'debit',
  'credit',
  'verify',
  'capture',
  'refund',
  'reverse',
  'increment',
] as const satisfies readonly Kind[]
type Handler = (operation: Operation, context: Context) => Promise<Outcome>

/** The example with some parts replaced. */
export const but = (parts: Partial<Connector>): Connector => ({ ...right, ...parts })

/** The example with every handler, or the named ones, wrapped. */
export function around(
  put: (handler: Handler) => Handler,
  only: readonly Kind[] = kinds,
): Connector {
  return but(Object.fromEntries(only.map((kind) => [kind, put(right[kind]!)])))
}

/** Changes a handler's outcome. */
export const saying = (
  change: (outcome: Outcome, operation: Operation) => Outcome,
  only?: readonly Kind[],
) =>
  around(
    (handler) => async (operation, context) => change(await handler(operation, context), operation),
    only,
  )

/** Turns a thrown error into an outcome. */
export const catching = (
  turn: (error: unknown, operation: Operation) => Outcome | Promise<Outcome>,
  only?: readonly Kind[],
) =>
  around(
    (handler) => (operation, context) =>
      handler(operation, context).catch((error: unknown) => turn(error, operation)),
    only,
  )

/** Changes an operation before it is sent. */
export const sending = (change: (operation: Operation) => Operation, only?: readonly Kind[]) =>
  around((handler) => (operation, context) => handler(change(operation), context), only)

type Request = Http['request']
export type Wrap = (send: Request, operation: Operation) => Request

export const contextOver = (context: Context, operation: Operation, wrap: Wrap): Context => {
  const send = wrap(context.http.request, operation)
  const http: Http = {
    request: send,
    get: (url, query, options) => send('GET', url, { ...options, query: { ...query } }),
    post: (url, json, options) => send('POST', url, { ...options, json }),
  }
  return { ...context, http }
}

/** Changes the requests of all or some handlers, or their answers. */
export const overHttp = (wrap: Wrap, only?: readonly Kind[]) =>
  around(
    (handler) => (operation, context) => handler(operation, contextOver(context, operation, wrap)),
    only,
  )

/** Lets the status of the last answer decide, whatever its body says; undefined: the right connector does. */
export const byStatus =
  <T>(
    right: (operation: Operation, context: Context) => Promise<T>,
    turn: (status: number) => T | undefined,
  ) =>
  async (operation: Operation, context: Context): Promise<T> => {
    let last = 0
    const noting: Wrap = (send) => async (method, url, options) => {
      const answer = await send(method, url, options)
      last = answer.status
      return answer
    }
    const outcome = await right(operation, contextOver(context, operation, noting))
    return turn(last) ?? outcome
  }

export const resolving = (parts: Partial<Connector['resolve']>): Connector =>
  but({ resolve: { ...right.resolve, ...parts } })
export const enquiring = (enquire: NonNullable<Connector['resolve']['enquire']>) =>
  resolving({ enquire })
export const receiving = (parts: Partial<NonNullable<Connector['inbound']>>): Connector =>
  but({ inbound: { ...right.inbound!, ...parts } })
export const claiming = (change: (claim: Claim, message: Inbound) => Claim): Connector =>
  receiving({
    async parse(message, context) {
      const claims = await right.inbound!.parse(message, context)
      return claims.map((claim) => change(claim, message))
    },
  })
