import { createHash } from 'node:crypto'
import type { GatewayError } from '../../core/errors.ts'
import { bodyInput } from '../../core/request/decode.ts'
import { parseRequest, warm } from '../../core/request/parse.ts'
import { endpoints } from '../../schemas/index.ts'
import { type Attack, type AttackRun, triedOf } from './attack.ts'
import { bodyOf, bytesOf, type Input, mutated, seedInputs, textOf } from './fuzz-input.ts'
import { own } from './ground.ts'
import { errorKind, wayOf, wrongWith, wrongWithFile, wrongWithPage } from './judge.ts'
import type { Random } from './random.ts'
import { type Answer, post, sendAll } from './wire.ts'

/** Operations that answer the browsers of shoppers with pages; their refusals are answers of the API. */
const pageOperations = /^(?:widget\.|checkouts\.page$|checkouts\.payByPage$)/
const forShoppers = new Set(
  endpoints
    .filter(({ login, operation }) => login === 'return' || pageOperations.test(operation))
    .map(({ operation }) => operation),
)
/** Scripts, styles and texts of the widget. */
const isFile = ({ operation }: Input, { headers }: Answer) =>
  operation.startsWith('widget.') && !headers.get('content-type')?.startsWith('application/json')
const isHtml = ({ headers }: Answer) =>
  headers.get('content-type')?.startsWith('text/html') === true

const sizes = {
  sample: { rounds: 1, perRound: 100, decodedRounds: 1 },
  short: { rounds: 2, perRound: 600, decodedRounds: 1 },
  full: { rounds: 820, perRound: 1250, decodedRounds: 200 },
} as const

const wire = { connections: 8, pipelined: 8, withinMs: 60_000 }
/** Far above the time of any of these requests, far below a time-out of a client. */
const longestDelayMs = 3_000
const mostBytes = 1024 ** 3
const mostHeapGrowthBytes = 96 * 1024 ** 2

/**
 * A round of inputs is made from the inputs kept before it, so that the order of answers does not
 * change the requests.
 */
class Corpus {
  readonly kept: Input[]
  readonly ways = new Set<string>()
  readonly #seeds: readonly Input[]

  constructor(seeds: readonly Input[]) {
    this.kept = [...seeds]
    this.#seeds = seeds
  }

  /** Every other input is almost valid, because inputs refused early test little. */
  next(random: Random): Input {
    const isNear = random.once(2)
    const base = random.pick(isNear ? this.#seeds : this.kept)
    return mutated(base, random, this.kept, isNear ? 1 + random.below(2) : 1 + random.below(5))
  }

  /** Keeps an input that reached a new kind of answer. */
  learn(input: Input, way: string): void {
    if (this.ways.has(way)) return
    this.ways.add(way)
    if (this.ways.size <= mostWays) this.kept.push(input)
  }
}

const mostWays = 20_000

/** A sample leaves most endpoints out, and never the one with the most fields. */
function fuzzed({ profile }: AttackRun): typeof endpoints {
  const tried = triedOf(profile, endpoints)
  return endpoints.filter((one) => tried.includes(one) || one.operation === 'payments.create')
}

export const fuzz: Attack = {
  name: 'fuzz',
  title: 'changed requests to every endpoint, kept when they lead to a new kind of answer',
  async run(run) {
    const { rounds, perRound } = sizes[run.profile]
    const host = await run.ground.host()
    const places = { token: run.ground.tokens[0]!, ids: await somePayments(run) }
    const corpus = new Corpus(seedInputs(run.random.next(), fuzzed(run)))
    const seeds = corpus.kept.length
    const digest = createHash('sha256')
    const statuses = new Map<number, number>()
    const before = await host.measure()
    const untilMs = performance.now() + run.forMs
    let bodies = 0
    let bytes = 0
    for (let round = 0; round < rounds && performance.now() < untilMs; round += 1) {
      const inputs = Array.from({ length: perRound }, () => corpus.next(run.random))
      for (const input of inputs) digest.update(textOf(input))
      const requests = inputs.map((input, index) => bytesOf(input, places, index))
      const answers = await sendAll(host.url, requests, wire)
      for (const [index, answer] of answers.entries()) {
        const input = inputs[index]!
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        bytes += requests[index]!.length
        if (bodyOf(input) !== undefined) bodies += 1
        const isPage = forShoppers.has(input.operation) && isHtml(answer)
        const wrong = isPage
          ? wrongWithPage(answer)
          : isFile(input, answer)
            ? wrongWithFile(answer)
            : wrongWith(answer)
        if (wrong !== undefined && !isDocument(input, answer.status)) {
          run.find(wrong, `${textOf(input)}\n→ ${answer.status} ${answer.body.slice(0, 200)}`)
        }
        if (answer.status !== 429) corpus.learn(input, wayOf(input.operation, answer))
      }
      if (host.ended() !== undefined) {
        run.find(`the host ended with ${host.ended()}`, inputs.map(textOf).join('\n---\n'))
        break
      }
    }
    const after = await host.measure()
    judgeProcess(run, before, after)
    const sent = [...statuses.values()].reduce((sum, count) => sum + count, 0)
    await host.log.untilRequests(sent)
    for (const line of host.log.wrong) run.find('a line of the log is broken', line)
    for (const line of host.log.faults) run.find('a fault of the gateway', line)
    return {
      requests: sent,
      bodies,
      megabytes: Math.round(bytes / 1e6),
      statuses: [...statuses]
        .sort()
        .map(([status, count]) => `${status}: ${count}`)
        .join(' '),
      'kinds of answers': corpus.ways.size,
      'inputs kept': corpus.kept.length - seeds,
      'longest delay ms': after.longestDelayMs,
      'p99 delay ms': after.p99DelayMs,
      'peak MB': Math.round(after.peakBytes / 1e6),
      'heap MB before and after': `${Math.round(before.heapBytes / 1e6)} ${Math.round(after.heapBytes / 1e6)}`,
      inputs: digest.digest('hex').slice(0, 16),
    }
  },
}

type Process = { longestDelayMs: number; peakBytes: number; heapBytes: number }

export function judgeProcess(run: AttackRun, before: Process, after: Process): void {
  // On a machine that other tests share, a delay proves nothing.
  if (run.profile !== 'sample' && after.longestDelayMs > longestDelayMs) {
    run.find('the event loop was blocked', `${after.longestDelayMs} ms`)
  }
  if (after.peakBytes > mostBytes) run.find('memory is not bounded', `${after.peakBytes} bytes`)
  if (after.heapBytes - before.heapBytes > mostHeapGrowthBytes) {
    run.find('memory stays in use', `${before.heapBytes} to ${after.heapBytes} bytes`)
  }
}

/** The result codes and the other documents have shapes of their own. */
const isDocument = ({ path, method }: Input, status: number) =>
  status === 200 && method === 'GET' && path.startsWith('/v1/resultcodes')

/** Approved debits of the attacker's own channel, for follow-ups. */
async function somePayments({ ground }: AttackRun): Promise<string[]> {
  const { url } = await ground.host()
  const requests = Array.from({ length: 50 }, () =>
    post('/v1/payments', ground.tokens[0]!, {
      entityId: own.channel,
      amount: '9200.00',
      currency: 'EUR',
      paymentType: 'DB',
      paymentBrand: 'VISA',
      'card.number': '4200000000000000',
      'card.expiryMonth': '05',
      'card.expiryYear': '2034',
    }),
  )
  const answers = await sendAll(url, requests, wire)
  return answers.map(({ status, body }) => {
    if (status !== 200) throw new Error(`a payment to build on was answered ${status} ${body}`)
    return (JSON.parse(body) as { id: string }).id
  })
}

const parsed = ['payments.create', 'payments.followUp', 'payments.get'] as const

export const decoding: Attack = {
  name: 'decoding',
  title:
    'changed bodies straight into decoding and validation, kept when they are refused in a new way',
  async run(run) {
    const { decodedRounds, perRound } = sizes[run.profile]
    warm(parsed)
    const seeds = seedInputs(
      run.random.next(),
      endpoints.filter(({ operation }) => parsed.some((name) => name === operation)),
    )
    const corpus = new Corpus(seeds)
    const digest = createHash('sha256')
    let bodies = 0
    let taken = 0
    let slowestMs = 0
    const untilMs = performance.now() + run.forMs
    for (let round = 0; round < decodedRounds && performance.now() < untilMs; round += 1) {
      const inputs = Array.from({ length: perRound }, () => corpus.next(run.random))
      for (const input of inputs) {
        digest.update(textOf(input))
        const startedMs = performance.now()
        const way = decoded(input, run)
        slowestMs = Math.max(slowestMs, performance.now() - startedMs)
        bodies += 1
        if (way === 'taken') taken += 1
        corpus.learn(input, `${input.operation} ${way}`)
      }
      // Lets other work in this process run, such as a test's deadline.
      await new Promise((resume) => setImmediate(resume))
    }
    const polluted = Object.keys(Object.prototype).concat(Object.keys(Array.prototype))
    if (polluted.length > 0) run.find('a prototype was changed', polluted.join())
    return {
      bodies,
      taken,
      'kinds of refusals': corpus.ways.size,
      'inputs kept': corpus.kept.length - seeds.length,
      'slowest ms': Math.round(slowestMs),
      inputs: digest.digest('hex').slice(0, 16),
    }
  },
}

/** The refusal of an input, or `taken`. Anything but a refusal with 400 is a finding. */
function decoded(input: Input, run: AttackRun): string {
  const body = bodyOf(input) ?? Buffer.alloc(0)
  const type = input.as === 'json' ? 'application/json' : undefined
  try {
    const { request } = parseRequest(input.operation as string, bodyInput(type, body))
    if (Object.getPrototypeOf(request) !== null)
      run.find('a request has a prototype', textOf(input))
    return 'taken'
  } catch (thrown) {
    const { name, status, code, parameterErrors } = thrown as GatewayError
    if (name !== 'GatewayError' || status !== 400) {
      run.find(`decoding throws ${String(thrown)}`, textOf(input))
      return 'thrown'
    }
    const errors = parameterErrors.slice(0, 8).map(({ name, message }) => errorKind(name, message))
    return `${code} ${[...new Set(errors)].sort().join('|')}`
  }
}
