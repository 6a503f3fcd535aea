/**
 * The cookie of an operator's session. Scripts cannot read it, and other sites cannot cause its
 * sending. Its prefix restricts browsers to this host over HTTPS, so that no neighbouring host can
 * set one.
 */
import { isLoopback } from './loopback.ts'

export type SessionCookie = {
  /** The session in a Cookie header; undefined where there is none, or more than one. */
  in(header: string | undefined): string | undefined
  /** Set-Cookie that keeps a session, or has it forgotten. */
  keep(session: string | null): string
}

/** Why an origin cannot be that of the office; undefined when it can. */
export function unfitOrigin(origin: string, environment: 'test' | 'live'): string | undefined {
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'must be an origin such as https://office.example.com'
  }
  if (url.origin !== origin.replace(/\/$/, '')) {
    return 'must be an origin in lower case, without a path'
  }
  if (url.protocol === 'https:') return undefined
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  return environment === 'test' && isLoopback(hostname)
    ? undefined
    : 'must begin with https://: plain HTTP is allowed only on the loopback interface in the test environment'
}

/**
 * @param isPlain over HTTP, where browsers take no cookie that asks for more.
 * @param pod each pod has its own operators, and a browser may hold a session in several.
 */
export function sessionCookie(isPlain: boolean, pod = 0): SessionCookie {
  const usual = isPlain ? 'tollgate-operator' : '__Host-tollgate-operator'
  const name = pod === 0 ? usual : `${usual}-${pod}`
  const flags = `Path=/; HttpOnly; SameSite=Strict${isPlain ? '' : '; Secure'}`
  return {
    in(header = '') {
      const found = header
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
      return found.length === 1 ? found[0]!.slice(name.length + 1) : undefined
    },
    keep: (session) =>
      session === null ? `${name}=; Max-Age=0; ${flags}` : `${name}=${session}; ${flags}`,
  }
}
