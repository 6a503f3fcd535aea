/** How requests prove the merchant: by a token, which Acme Bank gives for user and password. */
import { basicAuthorization, type HttpAnswer, Sensitive } from '@tollgate/plugin-kit'
import { refusalIn } from './answers.ts'
import type { Bank } from './index.ts'
import { read } from './wire.ts'

/**
 * Sends with a token, and once more where Acme Bank forgot it. Money is never asked for twice: an operation goes out
 * again only after the bank's own words that it did nothing, and under its key.
 *
 * @param moves whether the request can move money
 * @param send sends one request with this value of `authorization`
 * @throws Error before anything is sent, when there is no token.
 */
export async function loggedIn(
  bank: Bank,
  moves: boolean,
  send: (authorization: Sensitive) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  try {
    const token = await tokenOf(bank)
    const answer = await send(bearer(token))
    if (answer.status !== 401) return answer
    bank.dropToken('api', token)
    const didNothing = refusalIn(answer, read(answer.body)) !== undefined
    return moves && !didNothing ? answer : await send(bearer(await tokenOf(bank)))
  } catch (thrown) {
    if (thrown instanceof NoToken) return thrown.answer
    throw thrown
  }
}

const bearer = (token: Sensitive) => new Sensitive(`Bearer ${token.reveal()}`)

/** The bank refused user and password, so nothing else was sent. */
class NoToken extends Error {
  readonly answer: HttpAnswer

  constructor(answer: HttpAnswer) {
    super('Acme Bank refused user and password')
    this.answer = answer
  }
}

// DECIDE(login): how does a merchant get a token, and for how long?
const tokenOf = ({ token, http, config, account }: Bank): Promise<Sensitive> =>
  token('api', async () => {
    const answer = await http.request('POST', `${config.url.replace(/\/$/, '')}/token`, {
      headers: { authorization: basicAuthorization(account.user, account.password) },
      form: { grant_type: 'client_credentials' },
    })
    const fields = read(answer.body) ?? {}
    if (refusalIn(answer, fields) !== undefined) throw new NoToken(answer)
    const { access_token: value, expires_in: seconds } = fields
    if (value === undefined || !(Number(seconds) > 0)) {
      throw new Error(`Acme Bank gave no token: HTTP ${answer.status}`)
    }
    return { value: new Sensitive(value), expiresInMs: Number(seconds) * 1000 }
  })
