/** Who may ask Acme Bank: user and password lead to a token, and a token to everything else. */
import { randomBytes } from 'node:crypto'

export class Logins {
  readonly #login: string
  readonly tokens = new Set<string>()

  /** @param login the header `authorization` of user and password */
  constructor(login: string) {
    this.#login = login
  }

  isKnown = (authorization: string | undefined, path: string): boolean =>
    path === '/token'
      ? authorization === this.#login
      : this.tokens.has(authorization?.replace(/^Bearer /, '') ?? '')

  /** Fields of the answer to a login. */
  newToken(): Readonly<Record<string, string>> {
    const token = randomBytes(16).toString('hex')
    this.tokens.add(token)
    return { access_token: token, expires_in: '3600' }
  }

  /** The bank forgets its tokens, as after a start. */
  forget(): void {
    this.tokens.clear()
  }
}
