/**
 * An acquirer with payments in two requests, and without keys: a draft, of which there can be many, and its
 * confirmation, which pays a draft once. The connector records the draft of a key before it confirms.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  approved,
  type Context,
  declined,
  defineConnector,
  type HttpAnswer,
  none,
  type Operation,
  type Outcome,
  R,
  readJson,
  request,
  settings,
  unknown,
} from '@tollgate/plugin-kit'
import type { Sandbox } from '@tollgate/plugin-kit/testing'
import { card } from './card-instrument.ts'

type Draft = {
  readonly id: string
  readonly reference: string
  readonly minor: string
  readonly currency: string
  readonly number: string
  code?: string
}

const numbers = { approved: '4200000000000000', declined: '4000000000000002' }

async function startAcquirer() {
  const drafts = new Map<string, Draft>()
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://drafts.example')
    const [, , id] = pathname.split('/')
    const reply = (status: number, body: object) =>
      response.writeHead(status).end(JSON.stringify(body))
    if (pathname === '/payments') {
      const all = [...drafts.values()].filter(({ code }) => code !== undefined)
      const paid = all.find(({ reference }) => reference === searchParams.get('reference'))
      return reply(200, paid === undefined ? { nothing: true } : shown(paid))
    }
    if (id === undefined) {
      const order = readJson(Buffer.concat(chunks)) as Omit<Draft, 'id'>
      const draft = { ...order, id: `D${drafts.size + 1000}` }
      drafts.set(draft.id, draft)
      return reply(200, { draft: draft.id })
    }
    const draft = drafts.get(id)
    if (draft === undefined) return reply(404, { unknown: id })
    draft.code ??= draft.number === numbers.approved ? '00' : '05'
    return reply(200, shown(draft))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    drafts,
    async close() {
      const closed = new Promise((done) => server.close(done))
      server.closeAllConnections()
      await closed
    },
  }
}

const shown = ({ number: _secret, ...draft }: Draft): object => draft

type Habits = {
  /** The draft to confirm, from the answer to its request. */
  draftIn(answer: HttpAnswer): string | undefined
  /** Without a draft, nothing moved. */
  failed: Outcome | undefined
}
const right: Habits = {
  draftIn({ status, body }) {
    const { draft } = status === 200 ? (readJson(body) as { draft?: string }) : {}
    return draft
  },
  failed: undefined,
}

export function draftsConnector(habits: Partial<Habits> = {}) {
  const { draftIn, failed } = { ...right, ...habits }

  async function draftOf(operation: Operation, { http, config, records }: Context) {
    const { key, amount, instrument } = operation
    const known = await records.get(key)
    if (typeof known === 'string') return known
    if (instrument?.kind !== 'card') throw new Error('Drafts takes cards only')
    const order = { minor: String(amount.minor), currency: amount.currency }
    const body = { reference: key, ...order, number: instrument.number }
    const draft = draftIn(await http.post(`${config.url}/drafts`, body))
    if (draft === undefined) throw new Error('there is no draft')
    // Another call of the same key can have been first: its draft counts.
    const isFirst = await records.swap(key, undefined, draft)
    return isFirst ? draft : ((await records.get(key)) as string)
  }

  const config = settings('Drafts', [
    ['url', { kind: 'url', max: 200 }, R, request, none, 'Base URL.'],
  ])
  return defineConnector({
    name: 'drafts',
    title: 'Drafts',
    contract: 1,
    config,
    supports: {
      brands: ['VISA'],
      currencies: 'any',
      methods: ['card'],
      key: { by: 'key', ttlMs: Number.POSITIVE_INFINITY },
      enquiryVisibleAfterMs: 60_000,
      modes: ['EXTERNAL', 'LIVE'],
    },
    async debit(operation, given) {
      const context = { ...given, config: { url: given.config.url.replace(/\/$/, '') } }
      let draft: string
      try {
        draft = await draftOf(operation, context as unknown as Context)
      } catch (error) {
        if (failed !== undefined) return failed
        throw error
      }
      const url = `${context.config.url}/drafts/${draft}/confirm`
      return outcomeIn(await given.http.post(url, {}, { moves: true }), operation)
    },
    resolve: {
      async enquire(operation, { http, config }) {
        const url = `${config.url.replace(/\/$/, '')}/payments`
        const answer = await http.get(url, { reference: operation.key })
        const isNothing = answer.status === 200 && answer.text() === '{"nothing":true}'
        return isNothing ? { is: 'notFound' } : outcomeIn(answer, operation)
      },
    },
  })
}

function outcomeIn(answer: HttpAnswer, { key, amount: asked }: Operation): Outcome {
  if (answer.status !== 200) return unknown(`Drafts answered with HTTP ${answer.status}`)
  let draft: Partial<Draft>
  try {
    draft = answer.json() as Partial<Draft>
  } catch {
    return unknown('the answer is unreadable')
  }
  const { id, reference, code, minor = '', currency = '' } = draft
  if (reference !== key || id === undefined || !/^[0-9]{1,15}$/.test(minor)) {
    return unknown('the answer is unreadable, or about another payment')
  }
  if (code === '05') return declined('800.100.152', { code })
  if (code !== '00') return unknown(`the code ${code} is unknown`)
  const isSame = BigInt(minor) === asked.minor && currency === asked.currency
  return approved({ id }, isSame ? {} : { amount: { minor: BigInt(minor), currency } })
}

const change = (body: string, fields: object): string =>
  JSON.stringify({ ...JSON.parse(body), ...fields })

export const draftsSandbox: Sandbox = {
  approved: [{ instrument: card(numbers.approved) }],
  declined: { instrument: card(numbers.declined), reason: '800.100.152' },
  answers: {
    alterAmount: (body, { minor, currency }) => change(body, { minor: String(minor), currency }),
    alterCode: (body) => change(body, { code: 'Q7' }),
    withoutCode: (body) => change(body, { code: undefined }),
    nameTheKey: true,
  },
  async open() {
    const { url, drafts, close } = await startAcquirer()
    return {
      url,
      settings: (url) => ({ config: { url }, account: {} }),
      bookings: async () =>
        [...drafts.values()]
          .filter(({ code }) => code === '00')
          .map(({ reference, minor, currency }) => ({
            key: reference,
            amount: { minor: BigInt(minor), currency },
          })),
      close,
    }
  },
}
