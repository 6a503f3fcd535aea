/** Operators at a browser: they log in over HTTP and keep a cookie. */
import { type Clock, type Gateway, systemClock } from '../../core/index.ts'
import { codeAt, stepAt } from '../../core/operator-access/codes.ts'

export const password = 'correct horse 7 battery'

/** A wall clock that a test moves; monotonic time passes normally. */
export function movedClock(): Clock & { forward(ms: number): void } {
  let byMs = 0
  return {
    ...systemClock,
    realMs: () => systemClock.realMs() + byMs,
    forward(ms) {
      byMs += ms
    },
  }
}

export type Enrolled = {
  readonly id: string
  readonly name: string
  readonly secret: string
  readonly recoveryCodes: readonly string[]
}

export async function enrol(
  { people }: Pick<Gateway, 'people'>,
  name: string,
  role: string,
  entityId: string | null = null,
): Promise<Enrolled> {
  const made = await people.create({ name, password, role, entityId })
  if ('invited' in made) throw new Error(`${name} has to join first`)
  return { ...made, name, secret: secretIn(made.otpauthUri) }
}

export const secretIn = (otpauthUri: string): string =>
  new URL(otpauthUri).searchParams.get('secret') ?? ''

/** The authenticator's code, that many steps from now. */
export const codeOf = (secret: string, nowMs: number = Date.now(), steps = 0): string =>
  codeAt(secret, stepAt(nowMs) + steps)

export type OfficeAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown> & {
    result: { code: string; description: string; parameterErrors?: { name: string }[] }
  }
  /** The browser's later Cookie header. */
  readonly cookie: string
  readonly text: string
}

/** One request as a browser on the office's own page sends it. */
export async function office(
  url: string,
  path: string,
  more: {
    readonly cookie?: string
    /** Makes the request a POST. */
    readonly values?: object | string
    readonly headers?: Readonly<Record<string, string>>
    readonly method?: string
  } = {},
): Promise<OfficeAnswer> {
  const { cookie, values, headers = {} } = more
  const body =
    values === undefined ? null : typeof values === 'string' ? values : JSON.stringify(values)
  const response = await fetch(url + path, {
    method: more.method ?? (body === null ? 'GET' : 'POST'),
    headers: {
      ...(body === null ? {} : { 'Content-Type': 'application/json', Origin: url }),
      ...(cookie === undefined ? {} : { Cookie: cookie }),
      ...headers,
    },
    body,
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? { result: { code: '', description: '' } } : JSON.parse(text),
    cookie: (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '',
    text,
  }
}

/** Logs in with the current code. */
export const logIn = (
  url: string,
  who: Pick<Enrolled, 'name' | 'secret'>,
  clock: Pick<Clock, 'realMs'> = systemClock,
  more: object = {},
): Promise<OfficeAnswer> =>
  office(url, '/operator/v1/login', {
    values: { name: who.name, password, code: codeOf(who.secret, clock.realMs()), ...more },
  })
