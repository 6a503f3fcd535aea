/** How requests prove the merchant: by user and password. */
import { basicAuthorization, type HttpAnswer, type Sensitive } from '@tollgate/plugin-kit'

type Login = { readonly user: string; readonly password: string }

/** @param send sends one request with this value of `authorization` */
// DECIDE(login): how does a request prove the merchant?
export const loggedIn = (
  { account }: { readonly account: Login },
  _moves: boolean,
  send: (authorization: Sensitive) => Promise<HttpAnswer>,
): Promise<HttpAnswer> => send(basicAuthorization(account.user, account.password))
