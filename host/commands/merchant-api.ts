/** The public API as a command of a merchant's developer uses it. */
import { resolve } from 'node:path'
import type { Got, Response } from 'got'
import { readCredentials } from '../serve/demo.ts'
import type { Shell } from '../shell.ts'
import { buildNumber } from '../version.ts'
import { type Given, type Option, tell, UsageError } from './command.ts'
import { secretIn } from './secret-file.ts'
import { settingsFor } from './settings.ts'
import { shownTime } from './shown-text.ts'

export type FeedEvent = {
  readonly id: string
  readonly sequence: number
  readonly at: string
  readonly type: string
  readonly action?: string
  readonly payload: Readonly<Record<string, unknown>> & {
    readonly id: string
    readonly result?: { readonly code?: string }
  }
}

export type FeedPage = {
  readonly events: readonly FeedEvent[]
  readonly nextCursor: string
  readonly more: boolean
}

/** The gateway's URL and the token. */
export const apiOptions: Readonly<Record<string, Option>> = {
  url: {
    type: 'string',
    value: 'url',
    meaning: 'URL of the gateway. Default: the gateway that serve last started in this folder.',
  },
  'token-file': {
    type: 'string',
    value: 'file',
    meaning:
      'File with the access token. You can also set TOLLGATE_TOKEN. Default: the demo token of this folder.',
  },
}

export const sinceOption: Option = {
  type: 'string',
  value: 'moment',
  meaning: '"2026-03-14", "2026-03-14 09:30:00" in UTC, or 15m, 2h, 3d ago.',
}

const longestAnswerMs = 45_000
const patientTries = 2

export class MerchantApi {
  readonly url: string
  readonly token: string
  /** Where the token is from, for messages. */
  readonly tokenName: string
  readonly #client: Got

  private constructor(
    url: string,
    { token, tokenName }: { readonly token: string; readonly tokenName: string },
    got: Got,
    shell: Shell,
  ) {
    this.tokenName = tokenName
    this.url = url.endsWith('/') ? url.slice(0, -1) : url
    this.token = token
    this.#client = got.extend({
      headers: { authorization: `Bearer ${token}`, 'user-agent': buildNumber },
      timeout: { request: longestAnswerMs },
      // A redirect would carry the token to another server.
      followRedirect: false,
      throwHttpErrors: false,
      retry: { methods: ['GET'], statusCodes: [429, 500, 502, 503, 504], maxRetryAfter: 10_000 },
      hooks: {
        beforeRetry: [
          ({ response, code }) =>
            tell(shell, `${this.url}: ${response?.statusCode ?? code ?? 'no response'}; retrying`),
        ],
      },
    })
  }

  /** From options, environment and the files of `serve` in this folder. @throws UsageError */
  static async of(given: Given, shell: Shell): Promise<MerchantApi> {
    const settings = await settingsFor(given, shell)
    const known = await readCredentials(resolve(shell.folder, settings.dataDirectory))
    const url = given.options.url ?? known.baseUrl
    if (shell.env.TOLLGATE_TOKEN?.trim() === '') throw new UsageError('TOLLGATE_TOKEN is empty')
    const inFile = await secretIn(given, shell, 'token-file')
    const token = inFile ?? shell.env.TOLLGATE_TOKEN ?? known.accessToken
    const tokenName =
      inFile !== undefined
        ? 'the token of --token-file'
        : shell.env.TOLLGATE_TOKEN !== undefined
          ? 'the token of TOLLGATE_TOKEN'
          : 'the demo token of this folder'
    if (url === undefined) throw new UsageError(missing('--url to the URL of the gateway'))
    if (!/^https?:\/\/[^/]/.test(url))
      throw new UsageError('--url must begin with http:// or https://')
    if (token === undefined) throw new UsageError(missing('TOLLGATE_TOKEN or --token-file'))
    // A serving process never needs the client.
    const { got } = await import('got')
    return new MerchantApi(url, { token, tokenName }, got, shell)
  }

  get(path: string, query: Query) {
    return this.#ask('GET', withQuery(path, query), { isPatient: true })
  }

  /** The same, once: the caller asks again. */
  getOnce(path: string, query: Query, signal: AbortSignal) {
    return this.#ask('GET', withQuery(path, query), { signal })
  }

  post(path: string, form: Readonly<Record<string, string>>) {
    return this.#ask('POST', path, { form })
  }

  /** @throws RefusedError it was refused and will be again · UnavailableError it may work later. */
  async #ask(method: 'GET' | 'POST', path: string, more: Ask): Promise<Answer> {
    const { signal, isPatient, form } = more
    let answer: Response<string>
    try {
      answer = await this.#client(`${this.url}${path}`, {
        method,
        retry: { limit: isPatient === true ? patientTries : 0 },
        ...(form === undefined ? {} : { form }),
        ...(signal === undefined ? {} : { signal }),
      })
    } catch (error) {
      signal?.throwIfAborted()
      throw new UnavailableError(`${this.url} does not respond: ${whyOf(error)}`)
    }
    const { statusCode: status, body: text } = answer
    if (status === 200) return JSON.parse(text) as Answer
    const said = sentenceOf(text)
    if (status === 429 || status >= 500)
      throw new UnavailableError(`${this.url} responds with ${status}${said}`)
    throw new RefusedError(
      `${this.url} refuses the request with ${this.tokenName}: ${status}${said}`,
    )
  }
}

type Query = Readonly<Record<string, string | undefined>>

function withQuery(path: string, query: Query): string {
  const sent = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return sent.length === 0 ? path : `${path}?${new URLSearchParams(sent)}`
}

type Ask = {
  readonly form?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Asks again by itself. Only questions: a change may have happened although no answer came. */
  readonly isPatient?: boolean
}

export type Answer = Readonly<Record<string, unknown>>

/** Asking again is of no use. The message is for the user. */
export class RefusedError extends UsageError {}
/** Asking again later may help. */
export class UnavailableError extends UsageError {}

const missing = (what: string) => `set ${what}, or start the gateway in this folder`

/** `ECONNREFUSED` and the like, as plain as they are. */
export function whyOf(error: unknown): string {
  const { cause, code, name, message } = error as {
    cause?: { code?: string; message?: string }
    code?: string
    name: string
    message: string
  }
  if (name === 'TimeoutError') return 'timeout'
  if (code === 'ECONNREFUSED') return 'no server listens there'
  return code ?? cause?.code ?? cause?.message ?? message
}

function sentenceOf(text: string): string {
  try {
    const { result } = JSON.parse(text) as {
      result?: { description?: string; parameterErrors?: { name: string; message: string }[] }
    }
    const about = result?.parameterErrors?.map(({ name, message }) => `${name} ${message}`) ?? []
    return [` ${result?.description ?? ''}`, ...about].join('; ').trimEnd()
  } catch {
    return ''
  }
}

/** `2h` becomes the moment two hours ago; other texts go as they are. @throws UsageError */
export function momentOf(text: string, nowMs: number): string {
  const ago = /^([0-9]{1,5})([smhd])$/.exec(text)
  if (ago !== null) {
    const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
    return shownTime(new Date(nowMs - Number(ago[1]) * units[ago[2] as keyof typeof units]))
  }
  if (/^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?$/.test(text) && isReal(text)) return text
  throw new UsageError(`"${text}" is not a valid time: write ${sinceOption.meaning}`)
}

/** Whether a day and a time exist: 31 February is read as a day of March. */
function isReal(text: string): boolean {
  const at = new Date(`${text.replace(' ', 'T')}${text.length === 10 ? '' : 'Z'}`)
  return !Number.isNaN(at.getTime()) && at.toISOString().replace('T', ' ').startsWith(text)
}

/** The event's type and action: `PAYMENT`, `REGISTRATION CREATED`. */
export const kindOf = ({ type, action }: FeedEvent): string =>
  action === undefined ? type : `${type} ${action}`
