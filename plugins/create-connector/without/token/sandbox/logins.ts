/** Who may ask Acme Bank. */
export class Logins {
  readonly #login: string

  /** @param login the header `authorization` of user and password */
  constructor(login: string) {
    this.#login = login
  }

  isKnown = (authorization: string | undefined, _path: string): boolean =>
    authorization === this.#login
}
