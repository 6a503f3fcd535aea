import { onEndSignal } from '../serve/signals.ts'
import { type Command, columns, type Given, print, UsageError } from './command.ts'
import { type Forwarded, forward, keyOf, secretOf, type Target } from './forward.ts'
import {
  apiOptions,
  type FeedEvent,
  type FeedPage,
  kindOf,
  MerchantApi,
  momentOf,
  rest,
  sinceOption,
  UnavailableError,
} from './merchant-api.ts'
import { secretIn } from './secret-file.ts'

/** An answer other than 2xx is asked for again after these times; then the event is passed over. */
const pausesMs = [1_000, 2_000, 4_000]
/** Pause between attempts while the gateway or the program does not respond. */
const knockMs = 1_000
const waitSeconds = 20

export const listenCommand: Command = {
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
  async run(given) {
    const api = await MerchantApi.of(given)
    const target = await targetOf(given, api.token)
    const since = given.options.since
    const stopping = new AbortController()
    const ended = onEndSignal(
      async () => stopping.abort(),
      () => process.exit(130),
    )
    const listener = new Listener(api, target, given.flags.has('print'), stopping.signal)
    present(api, target)
    await Promise.race([
      ended,
      listener.follow({
        types: given.options.types?.toUpperCase(),
        since: since === undefined ? 'NOW' : momentOf(since, Date.now()),
      }),
    ])
    const { events, accepted } = listener.counts
    print(
      `\n${events} ${events === 1 ? 'event' : 'events'}${target === undefined ? '' : `, ${accepted} accepted`}`,
    )
    return 0
  },
}

async function targetOf(given: Given, token: string): Promise<Target | undefined> {
  const { 'forward-to': url, wrapper = 'NONE' } = given.options
  const secret = (await secretIn(given, 'secret-file')) ?? secretOf(token)
  const key = (await secretIn(given, 'key-file')) ?? keyOf(token)
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

function present(api: MerchantApi, target: Target | undefined): void {
  const rows = [['Follows', api.url]]
  if (target !== undefined) {
    rows.push(['Forwards to', target.url], ['Signing secret', target.secret])
    if (target.wrapper !== undefined) rows.push(['Encryption key', target.wrapper.key])
  }
  for (const line of columns(rows)) print(line)
  print()
}

class Listener {
  readonly counts = { events: 0, accepted: 0 }
  readonly #api: MerchantApi
  readonly #target: Target | undefined
  readonly #isPrinting: boolean
  readonly #signal: AbortSignal
  /** Said once, until it works again. */
  #trouble: string | undefined

  constructor(
    api: MerchantApi,
    target: Target | undefined,
    isPrinting: boolean,
    signal: AbortSignal,
  ) {
    this.#api = api
    this.#target = target
    this.#isPrinting = isPrinting
    this.#signal = signal
  }

  /** Until the signal is aborted. @throws RefusedError */
  async follow(from: { types: string | undefined; since: string }): Promise<void> {
    const { types } = from
    let cursor: string | undefined
    while (!this.#signal.aborted) {
      const place =
        cursor === undefined ? { since: from.since } : { cursor, wait: String(waitSeconds) }
      const page = await this.#page({ types, ...place })
      if (page === undefined) continue
      if (cursor === undefined) print('Ready. Press Ctrl-C to stop.')
      for (const event of page.events) {
        await this.#bring(event)
        if (this.#signal.aborted) return
      }
      cursor = page.nextCursor
    }
  }

  async #page(query: Record<string, string | undefined>): Promise<FeedPage | undefined> {
    try {
      const page = await this.#api.get('/v1/events', query, this.#signal)
      this.#works(`${this.#api.url} responds again`)
      return page as FeedPage
    } catch (error) {
      if (this.#signal.aborted) return undefined
      if (!(error instanceof UnavailableError)) throw error
      this.#says(`${error.message}; retrying`)
      await rest(knockMs, this.#signal)
      return undefined
    }
  }

  async #bring(event: FeedEvent): Promise<void> {
    const { payload } = event
    const shown = [kindOf(event), payload.id, payload.result?.code ?? ''].join('  ').trimEnd()
    this.counts.events += 1
    if (this.#isPrinting) print(JSON.stringify(payload, undefined, 2))
    if (this.#target === undefined) return print(line(event.at, shown))
    for (let tries = 0; !this.#signal.aborted; ) {
      const forwarded = await forward(this.#target, event, this.#signal).catch(() => undefined)
      if (forwarded === undefined) return
      if (forwarded.status === undefined) {
        // The program does not listen, perhaps during a restart, so this is no refusal.
        this.#says(`${this.#target.url} does not respond: ${forwarded.error}; retrying`)
        await rest(knockMs, this.#signal)
        continue
      }
      this.#works()
      const isAccepted = forwarded.status >= 200 && forwarded.status < 300
      const pauseMs = isAccepted ? undefined : pausesMs[tries]
      print(line(event.at, shown, outcome(forwarded, isAccepted, pauseMs)))
      if (isAccepted) this.counts.accepted += 1
      if (pauseMs === undefined) return
      tries += 1
      await rest(pauseMs, this.#signal)
    }
  }

  #says(trouble: string): void {
    if (trouble === this.#trouble) return
    this.#trouble = trouble
    print(trouble)
  }

  #works(again?: string): void {
    if (
      this.#trouble !== undefined &&
      again !== undefined &&
      this.#trouble.startsWith(this.#api.url)
    ) {
      print(again)
    }
    this.#trouble = undefined
  }
}

/** `09:26:53  PAYMENT  8a82…  000.100.110  -> 200 in 12 ms` */
const line = (at: string, shown: string, outcome = '') =>
  `${at.slice(11, 19)}  ${shown}${outcome === '' ? '' : `  -> ${outcome}`}`

function outcome(
  { status, ms }: Forwarded,
  isAccepted: boolean,
  pauseMs: number | undefined,
): string {
  const answered = `${status} in ${ms} ms`
  if (isAccepted) return answered
  return pauseMs === undefined
    ? `${answered}; skipped`
    : `${answered}; retry in ${pauseMs / 1000} s`
}
