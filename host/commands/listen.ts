import pRetry from 'p-retry'
import { type Shell, toldToEnd } from '../shell.ts'
import { type Command, columns, type Given, print, UsageError } from './command.ts'
import { type Forwarded, forward, keyOf, secretOf, type Target } from './forward.ts'
import {
  apiOptions,
  type FeedEvent,
  type FeedPage,
  kindOf,
  MerchantApi,
  momentOf,
  sinceOption,
  UnavailableError,
} from './merchant-api.ts'
import { secretIn } from './secret-file.ts'
import { shownJson } from './shown-text.ts'

/** A refused event is offered again after 1, 2 and 4 seconds, and then passed over. */
const refusedPauses = { retries: 3, minTimeout: 1_000, factor: 2 } as const
const waitSeconds = 20

const listenCommand: Command = {
  name: 'listen',
  summary: 'Forward the events of a merchant to a program on this machine.',
  options: {
    'forward-to': {
      type: 'string',
      value: 'url',
      meaning: 'URL that receives each event as a webhook: http://localhost:3000/hooks.',
    },
    ...apiOptions,
    types: {
      type: 'string',
      value: 'list',
      meaning:
        'Types of events, separated by commas: PAYMENT, REGISTRATION, SCHEDULE. Default: all.',
    },
    since: { ...sinceOption, meaning: `Start: ${sinceOption.meaning} Default: now.` },
    print: { type: 'boolean', meaning: 'Print the payload of each event.' },
    wrapper: {
      type: 'string',
      value: 'kind',
      meaning: 'NONE sends plain JSON, TEXT and JSON encrypt the body. Default: NONE.',
    },
    'secret-file': {
      type: 'string',
      value: 'file',
      meaning: 'File with the signing secret, whsec_…. Default: a secret derived from the token.',
    },
    'key-file': {
      type: 'string',
      value: 'file',
      meaning:
        'File with the encryption key, 64 hex characters. Default: a key derived from the token.',
    },
  },
  notes:
    'The command reads events through the public API, so the gateway can run anywhere. You may restart the gateway and your program while the command runs.',
  async run(given, shell) {
    const api = await MerchantApi.of(given, shell)
    const target = await targetOf(given, shell, api.token)
    const since = given.options.since
    const listener = new Listener(api, target, given.flags.has('print'), shell)
    present(shell, api, target)
    await Promise.race([
      toldToEnd(shell.signal),
      listener.follow({
        types: given.options.types?.toUpperCase(),
        since: since === undefined ? 'NOW' : momentOf(since, Date.now()),
      }),
    ])
    const { events, accepted } = listener.counts
    print(
      shell,
      `\n${events} ${events === 1 ? 'event' : 'events'}${target === undefined ? '' : `, ${accepted} accepted`}`,
    )
    return 0
  },
}

async function targetOf(given: Given, shell: Shell, token: string): Promise<Target | undefined> {
  const { 'forward-to': url, wrapper = 'NONE' } = given.options
  const secret = (await secretIn(given, shell, 'secret-file')) ?? secretOf(token)
  const key = (await secretIn(given, shell, 'key-file')) ?? keyOf(token)
  if (url === undefined) return undefined
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new UsageError('--forward-to must be a URL: http://localhost:3000/hooks')
  }
  if (!/^whsec_[A-Za-z0-9+/=]{4,}$/.test(secret)) {
    throw new UsageError('--secret-file must contain whsec_ followed by base64')
  }
  if (!/^[0-9a-f]{64}$/i.test(key)) {
    throw new UsageError('--key-file must contain 64 hex characters')
  }
  const as = wrapper.toUpperCase()
  if (as !== 'NONE' && as !== 'TEXT' && as !== 'JSON') {
    throw new UsageError('--wrapper must be NONE, TEXT or JSON')
  }
  return { url, secret, wrapper: as === 'NONE' ? undefined : { as, key } }
}

function present(shell: Shell, api: MerchantApi, target: Target | undefined): void {
  const rows = [['Follows', api.url]]
  if (target !== undefined) {
    rows.push(['Forwards to', target.url], ['Signing secret', target.secret])
    if (target.wrapper !== undefined) rows.push(['Encryption key', target.wrapper.key])
  }
  for (const line of columns(rows)) print(shell, line)
  print(shell)
}

class Listener {
  readonly counts = { events: 0, accepted: 0 }
  readonly #api: MerchantApi
  readonly #target: Target | undefined
  readonly #isPrinting: boolean
  readonly #shell: Shell
  readonly #signal: AbortSignal
  /** Said once, until it works again. */
  #trouble: string | undefined

  constructor(api: MerchantApi, target: Target | undefined, isPrinting: boolean, shell: Shell) {
    this.#api = api
    this.#target = target
    this.#isPrinting = isPrinting
    this.#shell = shell
    this.#signal = shell.signal
  }

  /** Until the signal is aborted. @throws RefusedError */
  async follow(from: { types: string | undefined; since: string }): Promise<void> {
    try {
      await this.#follow(from)
    } catch (error) {
      if (!this.#signal.aborted) throw error
    }
  }

  async #follow({ types, since }: { types: string | undefined; since: string }): Promise<void> {
    let cursor: string | undefined
    while (!this.#signal.aborted) {
      const place = cursor === undefined ? { since } : { cursor, wait: String(waitSeconds) }
      const page = await this.#page({ types, ...place })
      if (cursor === undefined) print(this.#shell, 'Ready. Press Ctrl-C to stop.')
      for (const event of page.events) await this.#bring(event)
      cursor = page.nextCursor
    }
  }

  /** The next page, as soon as the gateway responds. */
  async #page(query: Record<string, string | undefined>): Promise<FeedPage> {
    const page = await pRetry(() => this.#api.getOnce('/v1/events', query, this.#signal), {
      ...knocking(this.#signal),
      shouldRetry: ({ error }) => error instanceof UnavailableError,
      onFailedAttempt: ({ error }) => {
        if (error instanceof UnavailableError) this.#says(`${error.message}; retrying`)
      },
    })
    this.#works(`${this.#api.url} responds again`)
    return page as FeedPage
  }

  /** Brings an event to the program, again after each refusal, and then passes it over. */
  async #bring(event: FeedEvent): Promise<void> {
    const { payload } = event
    const shown = [kindOf(event), payload.id, payload.result?.code ?? ''].join('  ').trimEnd()
    this.counts.events += 1
    if (this.#isPrinting) print(this.#shell, shownJson(payload, 2))
    const target = this.#target
    if (target === undefined) return print(this.#shell, line(event.at, shown))
    try {
      await pRetry(() => this.#offer(target, event, shown), {
        ...refusedPauses,
        signal: this.#signal,
        onFailedAttempt: ({ error, retryDelay, retriesLeft }) => {
          if (!(error instanceof RefusedEventError)) return
          const then = retriesLeft === 0 ? 'skipped' : `retry in ${retryDelay / 1000} s`
          print(this.#shell, line(event.at, shown, `${answerOf(error.answer)}; ${then}`))
        },
      })
    } catch (error) {
      if (!(error instanceof RefusedEventError)) throw error
    }
  }

  /** One offer. A program that does not listen refuses nothing: it restarts, perhaps. */
  async #offer(target: Target, event: FeedEvent, shown: string): Promise<void> {
    const answer = await pRetry(
      async () => {
        const answer = await forward(target, event, this.#signal)
        if (answer.status === undefined) throw new Error(answer.error)
        return answer
      },
      {
        ...knocking(this.#signal),
        onFailedAttempt: ({ error }) =>
          this.#says(`${target.url} does not respond: ${error.message}; retrying`),
      },
    )
    this.#works()
    const { status = 0 } = answer
    if (status < 200 || status >= 300) throw new RefusedEventError(answer)
    this.counts.accepted += 1
    print(this.#shell, line(event.at, shown, answerOf(answer)))
  }

  #says(trouble: string): void {
    if (trouble === this.#trouble) return
    this.#trouble = trouble
    print(this.#shell, trouble)
  }

  #works(again?: string): void {
    if (
      this.#trouble !== undefined &&
      again !== undefined &&
      this.#trouble.startsWith(this.#api.url)
    ) {
      print(this.#shell, again)
    }
    this.#trouble = undefined
  }
}

/** `09:26:53  PAYMENT  8a82…  000.100.110  -> 200 in 12 ms` */
const line = (at: string, shown: string, outcome = '') =>
  `${at.slice(11, 19)}  ${shown}${outcome === '' ? '' : `  -> ${outcome}`}`

const answerOf = ({ status, ms }: Forwarded): string => `${status} in ${ms} ms`

/** The program answered with another status than 2xx. */
class RefusedEventError extends Error {
  readonly answer: Forwarded

  constructor(answer: Forwarded) {
    super(answerOf(answer))
    this.answer = answer
  }
}

/** While the gateway or the program does not respond. */
const knocking = (signal: AbortSignal) => ({
  retries: Number.POSITIVE_INFINITY,
  minTimeout: 1_000,
  factor: 1,
  signal,
})

export const commands: readonly Command[] = [listenCommand]
