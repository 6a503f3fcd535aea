/** A context of the simulator over HTTP whose secret is an access token, as of a server that gives tokens. */
import { type Context, Sensitive } from '@tollgate/plugin-kit'

type Tokens = Pick<Context, 'token' | 'dropToken' | 'account' | 'http'>

/** @param drops whether the token is dropped at each 401, as it should be. */
export async function withToken<Own extends Tokens>(context: Own, drops: boolean): Promise<Own> {
  const token = await context.token('api', async () => ({
    value: new Sensitive(String(context.account.secret)),
    expiresInMs: 3_600_000,
  }))
  const http = new Proxy(context.http, {
    get(all, name) {
      const send: unknown = Reflect.get(all, name)
      if (typeof send !== 'function') return send
      return async (...given: unknown[]) => {
        const answer: { status?: number } = await send.apply(all, given)
        if (drops && answer.status === 401) context.dropToken('api', token)
        return answer
      }
    },
  })
  return { ...context, http, account: { ...context.account, secret: token.reveal() } }
}
