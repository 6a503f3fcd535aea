/** Mistakes with access tokens: the example connector, whose key of the API is its token. */
import {
  type Connector,
  type Context,
  type Http,
  type Kind,
  type Operation,
  Sensitive,
} from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import { around, but, contextOver, type Wrong } from './changed-connector.ts'

type Answer = Awaited<ReturnType<Http['request']>>
type Habit = {
  readonly drops?: (answer: Answer) => boolean
  /** Sends a refused request again. */
  readonly repeats?: (answer: Answer, moves: boolean) => boolean
}

const isRefused = ({ status, body }: Answer) => status === 401 && body.includes('"refused":true')

/** Drops at each 401; repeats look-ups, and operations after the bank's own words, which its keys allow. */
const habits: Required<Habit> = {
  drops: ({ status }) => status === 401,
  repeats: (answer, moves) => answer.status === 401 && (!moves || isRefused(answer)),
}

const overTokens = (context: Context, operation: Operation, habit: Habit): Context => {
  const { drops, repeats } = { ...habits, ...habit }
  const tokenNow = () =>
    context.token('api', async () => ({
      value: new Sensitive(String(context.account.apiKey)),
      expiresInMs: 3_600_000,
    }))
  return contextOver(context, operation, (send) => async (method, url, options = {}) => {
    const sendWith = (token: Sensitive) => {
      const authorization = new Sensitive(`Bearer ${token.reveal()}`)
      return send(method, url, { ...options, headers: { ...options.headers, authorization } })
    }
    const token = await tokenNow()
    const answer = await sendWith(token)
    if (drops(answer)) context.dropToken('api', token)
    return repeats(answer, options.moves === true) ? sendWith(await tokenNow()) : answer
  })
}

export function withTokens(habit: Habit = {}, only?: readonly Kind[]): Connector {
  const { enquire, reverseByKey } = right.resolve
  const handlers = around(
    (handler) => (operation, context) => handler(operation, overTokens(context, operation, habit)),
    only,
  )
  return but({
    ...handlers,
    resolve: {
      enquire: (operation, context) => enquire!(operation, overTokens(context, operation, habit)),
      reverseByKey: (operation, context) =>
        reverseByKey!(operation, overTokens(context, operation, habit)),
    },
  })
}

const costs = 'a token that the acquirer forgot costs one operation at most'
const answers = 'a token that the acquirer forgot answers no enquiry and no reversal by key'

export const tokenMistakes: readonly Wrong[] = [
  {
    what: 'keeps a token that the acquirer forgot',
    connector: withTokens({ drops: () => false }),
    noticed: [costs, answers],
  },
  {
    what: 'keeps a forgotten token in refunds',
    connector: withTokens({ drops: () => false }, ['refund']),
    noticed: [costs],
  },
  {
    what: 'makes a new key when it repeats after HTTP 401',
    connector: around(
      (handler) => async (operation, context) => {
        const first = contextOver(context, operation, (send) => async (method, url, options) => {
          const answer = await send(method, url, options)
          if (answer.status !== 401) return answer
          const headers = { ...options?.headers, 'idempotency-key': 'f'.repeat(32) }
          return send(method, url, { ...options, headers })
        })
        return handler(operation, first)
      },
      ['debit'],
    ),
    noticed: ['HTTP 401 of a machine on the way leads to no second booking'],
  },
]
