import { type Command, jsonOption, print, printList, tell, UsageError } from './command.ts'
import {
  apiOptions,
  type FeedEvent,
  type FeedPage,
  kindOf,
  MerchantApi,
  momentOf,
  sinceOption,
} from './merchant-api.ts'
import { shownTime } from './shown-text.ts'

const mostEvents = 1_000
const dayMs = 86_400_000

const eventsListCommand: Command = {
  name: 'events list',
  summary: 'List events, oldest first.',
  options: {
    since: { ...sinceOption, meaning: `Start: ${sinceOption.meaning} Default: 1d.` },
    types: {
      type: 'string',
      value: 'list',
      meaning:
        'Types of events, separated by commas: PAYMENT, REGISTRATION, SCHEDULE. Default: all.',
    },
    type: { type: 'string', value: 'list', meaning: 'The older name of --types.' },
    ...jsonOption,
    ...apiOptions,
  },
  async run(given, shell) {
    const api = await MerchantApi.of(given, shell)
    const { since, type, types: list = type } = given.options
    const from =
      since === undefined ? shownTime(new Date(Date.now() - dayMs)) : momentOf(since, Date.now())
    const types = list?.toUpperCase()
    const events: FeedEvent[] = []
    let place: Record<string, string> = { since: from }
    let more = true
    while (more && events.length < mostEvents) {
      const page = (await api.get('/v1/events', { types, limit: '500', ...place })) as FeedPage
      events.push(...page.events)
      place = { cursor: page.nextCursor }
      more = page.more
    }
    printList(given, shell, events, {
      none: `no events since ${from} that ${api.tokenName} may see`,
      cells: rowOf,
    })
    if (more)
      tell(
        shell,
        `more events: tollgate events list --since "${shownTime(events.at(-1)?.at ?? '')}"`,
      )
    return 0
  },
}

const rowOf = (event: FeedEvent): string[] => [
  shownTime(event.at),
  event.id,
  kindOf(event),
  event.payload.id,
  event.payload.result?.code ?? '',
]

const eventsReplayCommand: Command = {
  name: 'events replay',
  summary: 'Send events to webhook endpoints again, including delivered ones.',
  words: ['[<event id>]'],
  options: {
    since: {
      ...sinceOption,
      meaning: `Instead of an id, all events since this moment: ${sinceOption.meaning}`,
    },
    endpoint: { type: 'string', value: 'id', meaning: 'Only this webhook endpoint. Default: all.' },
    dead: { type: 'boolean', meaning: 'Only notifications that Tollgate gave up.' },
    ...apiOptions,
  },
  async run(given, shell) {
    const [id] = given.words
    const { since, endpoint } = given.options
    if ((id === undefined) === (since === undefined)) {
      throw new UsageError('name the events to send again: either the id of an event, or --since')
    }
    const api = await MerchantApi.of(given, shell)
    const endpoints = endpoint === undefined ? await endpointsOf(api) : [endpoint]
    if (endpoints.length === 0) {
      throw new UsageError('there is no webhook endpoint')
    }
    for (const one of endpoints) {
      const what =
        id === undefined
          ? { from: momentOf(since ?? '', Date.now()) }
          : { eventId: id.slice(0, 32) }
      const count = await replay(api, one, {
        ...what,
        ...(given.flags.has('dead') ? { which: 'DEAD' } : {}),
      })
      print(
        shell,
        `${one}: ${count} ${count === 1 ? 'notification' : 'notifications'} will be sent again`,
      )
    }
    return 0
  },
}

async function endpointsOf(api: MerchantApi): Promise<string[]> {
  const all: string[] = []
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = (await api.get('/v1/webhooks', { limit: '500', cursor })) as {
      webhooks: readonly { id: string }[]
      nextCursor?: string
    }
    all.push(...page.webhooks.map(({ id }) => id))
    cursor = page.nextCursor
  }
  return all
}

/** A long range is replayed in pieces, each from where the one before ended. */
async function replay(
  api: MerchantApi,
  endpoint: string,
  what: Readonly<Record<string, string>>,
): Promise<number> {
  let count = 0
  for (let fields: Record<string, string> | undefined = { ...what }; fields !== undefined; ) {
    const answer = (await api.post(`/v1/webhooks/${endpoint}/replay`, fields)) as {
      replayed: number
      nextFrom?: string
    }
    count += answer.replayed
    const from = answer.nextFrom?.slice(0, 19)
    fields = from === undefined || from === fields.from ? undefined : { ...what, from }
  }
  return count
}

export const commands: readonly Command[] = [eventsListCommand, eventsReplayCommand]
