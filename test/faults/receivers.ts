/** Merchants' endpoints for notifications, on a separate server that misbehaves on request. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '../rig/installation/ground.ts'
import { merchantEntityId, strangerEntityId } from '../rig/installation/installation.ts'
import type { Mode, Trust } from '../rig/notification-receiver.ts'
import { bundled } from '../rig/programs.ts'
import type { Address, Line } from './line.ts'
import type { ReceiverNews, ReceiverOrder } from './receiver-process.ts'

/** Columns of a line, as in the checker's table. */
export const received =
  'no bigint, at_ms bigint, path text, id text, resource text, sequence integer, type text, accepted boolean, problem text'

/** Endpoints of the merchant, and one of a stranger, who must get nothing. */
const endpoints = {
  steady: { wrapper: 'JSON', types: 'PAYMENT,REGISTRATION,SCHEDULE', entityId: merchantEntityId },
  sealed: { wrapper: 'TEXT', types: 'PAYMENT,REGISTRATION', entityId: merchantEntityId },
  wrapped: { wrapper: 'JSON', types: 'PAYMENT,SCHEDULE', entityId: merchantEntityId },
  leaving: { wrapper: 'TEXT', types: 'PAYMENT', entityId: merchantEntityId },
  stranger: { wrapper: 'TEXT', types: 'PAYMENT,REGISTRATION,SCHEDULE', entityId: strangerEntityId },
} as const
export type EndpointName = keyof typeof endpoints

/** The same types, but only one misbehaving endpoint gets payments. */
const sparing: Readonly<Record<EndpointName, string>> = {
  steady: 'REGISTRATION,SCHEDULE',
  sealed: 'PAYMENT,REGISTRATION',
  wrapped: 'SCHEDULE',
  leaving: 'REGISTRATION',
  stranger: 'PAYMENT,REGISTRATION,SCHEDULE',
}

export type ReceiverFault = {
  readonly on: 'sealed' | 'wrapped' | 'leaving'
  readonly how:
    | 'fail'
    | 'hang'
    | 'drip'
    | 'reset'
    | 'redirect'
    | 'retry-after'
    | 'slow'
    /** 410: the gateway disables the endpoint. */
    | 'gone'
    /** The server dies and restarts. */
    | 'restart'
    /** A new signing secret, which the merchant adopts after a while. */
    | 'rotate'
  readonly ms: number
}

const modes: Readonly<Partial<Record<ReceiverFault['how'], Mode>>> = {
  fail: 'fail',
  hang: 'hang',
  drip: 'drip',
  reset: 'reset',
  redirect: 'redirect',
  gone: 'gone',
  'retry-after': { retryAfterSeconds: 2 },
  slow: { slowMs: 1_500 },
}

type Known = { id: string; trust: Trust }

export class Receivers {
  /** File of the deliveries. */
  readonly path: string
  readonly #line: Line
  readonly #sql: Sql
  readonly #known = new Map<EndpointName, Known>()
  readonly #modes = new Map<EndpointName, Mode>()
  #child: ChildProcess | undefined
  #port = 0
  #orders = 0

  constructor(line: Line, sql: Sql, path: string) {
    this.#line = line
    this.#sql = sql
    this.path = path
    writeFileSync(path, '', { mode: 0o644 })
  }

  /**
   * Starts the server and creates the endpoints.
   *
   * @param tellsPaymentsOnce whether only one of them gets payments.
   */
  async open(tellsPaymentsOnce: boolean): Promise<void> {
    await this.#start()
    for (const name of Object.keys(endpoints) as EndpointName[]) {
      const { wrapper, entityId } = endpoints[name]
      const types = tellsPaymentsOnce ? sparing[name] : endpoints[name].types
      const url = `http://127.0.0.1:${this.#port}/${name}`
      const made = await this.#insist('/v1/webhooks', { url, wrapper, types, entityId }, name)
      const key = made.encryptionKey!
      await this.#believe(name, { id: made.id, trust: { secrets: [made.signingSecret!], key } })
      await this.#sql('insert into oracle.endpoint (name, id, sure) values ($1, $2, true)', [
        name,
        made.id,
      ])
    }
  }

  /** @returns whether the fault occurred. */
  async inject({ on, how, ms }: ReceiverFault): Promise<boolean> {
    if (how === 'restart') {
      await this.#end()
      await pause(ms)
      await this.#start()
      return true
    }
    if (how === 'rotate') return this.#rotate(on, ms)
    await this.#behave(on, modes[how]!)
    await pause(ms)
    await this.#behave(on, 'ok')
    return true
  }

  /** All endpoints accept everything from now on, and disabled ones are enabled. */
  async recover(): Promise<void> {
    for (const name of this.#known.keys()) await this.#behave(name, 'ok')
    for (const [name, { id }] of this.#known) {
      await this.#insist(`/v1/webhooks/${id}`, { active: 'true' }, name)
    }
  }

  /** Replays notifications that were given up. */
  async replayDead(): Promise<void> {
    for (const [name, { id }] of this.#known) {
      for (let from: string | undefined = '2020-01-01 00:00:00'; from !== undefined; ) {
        const answer = await this.#insist(
          `/v1/webhooks/${id}/replay`,
          { from, which: 'DEAD' },
          name,
        )
        const next = answer.nextFrom?.slice(0, 19)
        from = next === from ? undefined : next
      }
    }
  }

  async close(): Promise<void> {
    await this.#end()
  }

  async #rotate(on: EndpointName, ms: number): Promise<boolean> {
    const { id, trust } = this.#known.get(on)!
    const host = this.#line.any(0.5)
    const answer = host && (await ask(host, `/v1/webhooks/${id}/rotate`, {}, tokenFor(host, on)))
    const fresh = answer?.signingSecret
    if (fresh === undefined) {
      // The rotation may have succeeded without its answer: a merchant would rotate again.
      await this.#sql('update oracle.endpoint set sure = false where name = $1', [on])
      const { signingSecret } = await this.#insist(`/v1/webhooks/${id}/rotate`, {}, on)
      await this.#believe(on, { id, trust: { ...trust, secrets: [signingSecret!] } })
      return true
    }
    // The old secret must work until the merchant adopts the new one.
    await pause(ms)
    await this.#believe(on, { id, trust: { ...trust, secrets: [fresh] } })
    return true
  }

  async #insist(
    path: string,
    fields: Readonly<Record<string, string>>,
    name: EndpointName,
  ): Promise<Answer> {
    for (let tries = 0; tries < 200; tries += 1) {
      const host = this.#line.any(tries % 2 === 0 ? 0 : 0.9)
      const answer = host && (await ask(host, path, fields, tokenFor(host, name)))
      if (answer !== undefined) return answer
      await pause(200)
    }
    throw new Error(`no host takes POST ${path}`)
  }

  async #believe(name: EndpointName, known: Known): Promise<void> {
    this.#known.set(name, known)
    await this.#order({ trust: known.trust, path: `/${name}` })
  }

  async #behave(name: EndpointName, mode: Mode): Promise<void> {
    this.#modes.set(name, mode)
    await this.#order({ behave: mode, path: `/${name}` })
  }

  async #order(
    order: Omit<ReceiverOrder & { trust: Trust }, 'no'> | { behave: Mode; path: string },
  ) {
    const child = this.#child
    // The server gets its settings at its restart.
    if (child === undefined) return
    this.#orders += 1
    const no = this.#orders
    const carriedOut = new Promise<void>((done) => {
      const end = () => {
        child.off('message', hear)
        child.off('exit', end)
        done()
      }
      const hear = (news: ReceiverNews) => {
        if ('done' in news && news.done === no) end()
      }
      child.on('message', hear)
      child.on('exit', end)
    })
    child.send({ ...order, no })
    await carriedOut
  }

  async #start(): Promise<void> {
    const lines = readFileSync(this.path, 'utf8').split('\n').length - 1
    const child = fork(
      await bundled('test/faults/receiver-process.ts'),
      [this.path, String(this.#port), String(lines)],
      { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
    )
    const [news] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => {
        throw new Error('the receiver of notifications did not start')
      }),
    ])) as [{ port: number }]
    this.#port = news.port
    this.#child = child
    for (const [name, { trust }] of this.#known) await this.#order({ trust, path: `/${name}` })
    for (const [name, mode] of this.#modes) await this.#behave(name, mode)
  }

  async #end(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
}

type Answer = {
  readonly id: string
  readonly signingSecret?: string
  readonly encryptionKey?: string
  readonly nextFrom?: string
}

const tokenFor = (host: Address, name: EndpointName) =>
  name === 'stranger' ? host.strangerToken : host.token

/** Undefined without an answer, or with one that asks for a retry. */
async function ask(
  host: Address,
  path: string,
  fields: Readonly<Record<string, string>>,
  token: string,
): Promise<Answer | undefined> {
  try {
    const answer = await fetch(`${host.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: new URLSearchParams(fields),
      signal: AbortSignal.timeout(5_000),
    })
    const text = await answer.text()
    if (answer.status === 200) return JSON.parse(text) as Answer
    if (answer.status < 500 && answer.status !== 429) {
      throw new TypeError(`POST ${path} was refused with ${answer.status}: ${text.slice(0, 500)}`)
    }
  } catch (error) {
    if (error instanceof TypeError && error.message.includes('was refused')) throw error
  }
  return undefined
}
