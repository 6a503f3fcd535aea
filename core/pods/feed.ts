/** The event feed over several pods, whose cursor is the cursors of all of them. */
import { limits, type Requests } from '@tollgate/schemas'
import type { RequestOptions } from '../caller/embedder.ts'
import { systemClock } from '../clock.ts'
import { GatewayError } from '../errors.ts'
import type { EventsView } from '../event-feed/view.ts'
import type { Gateway } from '../gateway.ts'
import { wrongCursor } from '../page/by-id.ts'

export type PodEventsView = EventsView & {
  /** Pods that did not answer. Their events come when they do: the cursor keeps the position in them. */
  readonly podsAway?: readonly number[]
}

type Request = NonNullable<Requests['events.list']>

type ListOptions = RequestOptions & { readonly signal?: AbortSignal }

/** A pod and where to go on in it: at its own cursor, or at a moment, else at its beginning. */
type Place = { readonly pod: number; readonly cursor?: string; readonly since?: string }

export type FeedPods = {
  readonly numbers: readonly number[]
  at(number: number): Gateway | undefined
}

/**
 * One page of the events of all pods. The events of one pod are in its order; those of different pods have
 * no order. A pod that filled a page comes last in the next one, so no pod waits for ever.
 *
 * @throws GatewayError 400 for a wrong cursor · the error of a pod when none answers.
 */
export async function listOfPods(
  pods: FeedPods,
  { cursor, since, wait, ...request }: Request = {},
  options: ListOptions = {},
): Promise<PodEventsView> {
  const places =
    cursor === undefined
      ? pods.numbers.map((pod) => ({ pod, ...(since === undefined ? {} : { since }) }))
      : placesOf(pods.numbers, cursor)
  const now = await readInTurn(pods, places, request, options)
  if (now.events.length > 0 || now.more || wait === undefined) return now
  return waitForAll(pods, placesOf(pods.numbers, now.nextCursor), { ...request, wait }, options)
}

async function readInTurn(
  pods: FeedPods,
  places: readonly Place[],
  request: Request,
  options: ListOptions,
): Promise<PodEventsView> {
  let left = Number(request.limit ?? 100)
  const read: Read[] = []
  for (const place of places) {
    const page = { ...request, limit: String(left) }
    const one: Read = left === 0 ? place : await readOne(pods, place, page, options)
    read.push(one)
    left -= one.view?.events.length ?? 0
  }
  return together(read)
}

/** Waits in all pods at once. The first that has an event ends the wait of the others, and the page is read anew. */
async function waitForAll(
  pods: FeedPods,
  places: readonly Place[],
  request: Request,
  options: ListOptions,
): Promise<PodEventsView> {
  const enough = new AbortController()
  const signals = options.signal === undefined ? [] : [options.signal]
  const signal = AbortSignal.any([...signals, enough.signal])
  const read = await Promise.all(
    places.map(async (place) => {
      const one = await readOne(pods, place, request, { ...options, signal })
      if (hasEvents(one)) enough.abort()
      return one
    }),
  )
  // Together, the pages of all pods could be longer than one page.
  const { wait: _over, ...anew } = request
  return read.some(hasEvents) ? readInTurn(pods, places, anew, options) : together(read)
}

type Read = Place & { readonly view?: EventsView; readonly error?: unknown }

const hasEvents = ({ view }: Read): boolean => view !== undefined && view.events.length > 0

/** Until when the pods that did not answer are not read again. */
const silentUntil = new WeakMap<FeedPods, Map<number, number>>()

/** A refusal is an answer like any other; a pod without one is away, and left alone for a while. */
async function readOne(
  pods: FeedPods,
  place: Place,
  request: Request,
  options: ListOptions,
): Promise<Read> {
  const { pod, ...from } = place
  const gateway = pods.at(pod)
  const silent = silentUntil.get(pods) ?? new Map<number, number>()
  silentUntil.set(pods, silent)
  const isSilent = systemClock.elapsedMs() < (silent.get(pod) ?? Number.NEGATIVE_INFINITY)
  if (gateway === undefined || isSilent) return { ...place, error: away() }
  try {
    const reading = gateway.events.list({ ...request, ...from }, options)
    const view = await answered(reading, Number(request.wait ?? 0) * 1000, options.signal)
    return { pod, cursor: view.nextCursor, view }
  } catch (error) {
    if (error instanceof GatewayError && error.status < 500) throw error
    silent.set(pod, systemClock.elapsedMs() + limits.podFeedRestMs)
    return { ...place, error }
  }
}

/** A pod whose database hangs holds the others up for a moment only, also at the end of their wait. */
async function answered<T>(
  reading: Promise<T>,
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  const late = Promise.withResolvers<never>()
  const end = () => late.reject(away())
  let timer = setTimeout(end, waitMs + limits.podFeedMs)
  const hurry = () => {
    clearTimeout(timer)
    timer = setTimeout(end, limits.podFeedMs)
  }
  signal?.addEventListener('abort', hurry, { once: true })
  try {
    return await Promise.race([reading, late.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', hurry)
    reading.catch(() => {})
  }
}

const away = () => new GatewayError('800.800.801', { status: 503, retryAfterSeconds: 1 })

function together(read: readonly Read[]): PodEventsView {
  const views = read.flatMap(({ view }) => view ?? [])
  const failed = read.filter(({ error }) => error !== undefined)
  const [first] = views
  if (first === undefined) throw failed[0]!.error
  const isFull = read.length > views.length + failed.length
  return {
    ...first,
    events: views.flatMap(({ events }) => events),
    nextCursor: cursorOf([...read.filter((one) => !hasEvents(one)), ...read.filter(hasEvents)]),
    more: isFull || views.some(({ more }) => more),
    ...(failed.length === 0 ? {} : { podsAway: failed.map(({ pod }) => pod) }),
  }
}

/** `0:<cursor>~1:<cursor>`, in the order in which the pods are read. A moment instead of a cursor: `1:@<time>`. */
const cursorOf = (places: readonly Place[]): string =>
  places
    .flatMap(({ pod, cursor, since }) => {
      if (cursor !== undefined) return [`${pod}:${cursor}`]
      return since === undefined ? [] : [`${pod}:@${momentOf(since).toString(36)}`]
    })
    .join('~')

/** A pod that was not read yet begins at the moment of the first page. */
const momentOf = (since: string): number =>
  since === 'NOW'
    ? systemClock.realMs()
    : Date.parse(`${since.length === 10 ? `${since} 00:00:00` : since}Z`.replace(' ', 'T'))

/** @throws GatewayError for a text that is no cursor, and for one of a pod that is not here. */
function placesOf(numbers: readonly number[], cursor: string): readonly Place[] {
  const places = cursor.split('~').map((part): Place => {
    const [, number, at, own] = /^([0-9]{1,2}):(?:@([0-9a-z]{1,9})|([0-9a-z.-]+))$/.exec(part) ?? []
    if (number === undefined) throw wrongCursor(cursor)
    const pod = Number(number)
    return own === undefined ? { pod, since: wireTimeOf(at!) } : { pod, cursor: own }
  })
  const known = new Set(places.map(({ pod }) => pod))
  if (known.size < places.length || places.some(({ pod }) => !numbers.includes(pod))) {
    throw wrongCursor(cursor)
  }
  // A pod that is newer than the cursor is read from its beginning.
  return [...places, ...numbers.filter((pod) => !known.has(pod)).map((pod) => ({ pod }))]
}

const wireTimeOf = (at: string): string =>
  new Date(Number.parseInt(at, 36)).toISOString().slice(0, 19).replace('T', ' ')
