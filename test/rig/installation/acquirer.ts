/** The simulated acquirer. Its ledger is the truth about the money. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Fault } from '../../../connectors/simulator/faults.ts'
import { defaultSecret, startSimulator } from '../../../connectors/simulator/server.ts'
import { keyHeader, merchantHeader } from '../../../connectors/simulator/wire.ts'
import { markOf, stillRuns } from '../processes.ts'
import { bundlesAreCurrent } from '../programs.ts'
import { merchantId, plainMerchantId } from './installation.ts'

const program = join(import.meta.dirname, '../../../connectors/simulator/bin/tollgate-simulator.js')

/** One booked operation of the acquirer; minor units as texts. */
export type LedgerEntry = {
  readonly merchantId: string
  readonly key: string
  readonly kind: string
  readonly paymentId: string
  readonly amount: { readonly minor: string; readonly currency: string }
  readonly state: 'approved' | 'declined' | 'pending' | 'closed'
  readonly code: string
  readonly original?: string
  readonly movements: readonly {
    readonly on: 'held' | 'charged'
    readonly minor: string
    readonly currency: string
  }[]
}

export type Acquirer = {
  readonly url: string
  /** Plans faults for later requests. */
  plan(...faults: readonly Fault[]): Promise<void>
  /** See connectors/simulator/control.ts; orders need no merchantId. Throws on a refused order. */
  control(order: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>
  /** Which merchant made an operation. */
  merchantOf(key: string): Promise<string>
  /** Ends a merchant's business days until this time. @returns the number of its files. */
  settle(merchantId: string, until: Date): Promise<number>
  /** Every entry of the acquirer's ledger. */
  ledger(): Promise<LedgerEntry[]>
  stop(): Promise<void>
}

const headers = { authorization: `Bearer ${defaultSecret}`, 'content-type': 'application/json' }

/**
 * @param ledger file of the books
 * @param isApart in a process to itself
 */
export async function startAcquirer(ledger: string, isApart: boolean): Promise<Acquirer> {
  const { url, stop } = isApart ? await startApart(ledger) : await startHere(ledger)
  const merchantOf = async (key: string) => {
    const ask = async () => {
      const found = await fetch(`${url}/operations?key=${key}`, {
        headers: { ...headers, [merchantHeader]: plainMerchantId, [keyHeader]: key },
      })
      return ((await found.json()) as { status?: string }).status
    }
    // A planned fault can meet this question, too.
    const once = () => ask().catch(() => undefined)
    const status = (await once()) ?? (await once()) ?? (await ask())
    return status === 'notFound' ? merchantId : plainMerchantId
  }
  const named = async (order: Readonly<Record<string, unknown>>) => {
    for (const name of ['finish', 'tell', 'chargeback', 'chargebackReversal']) {
      const about = order[name] as { key: string; original?: string } | undefined
      if (about === undefined) continue
      return {
        ...order,
        [name]: { ...about, merchantId: await merchantOf(about.original ?? about.key) },
      }
    }
    return order
  }
  const control: Acquirer['control'] = async (given) => {
    const order = await named(given)
    const answer = await fetch(`${url}/control`, {
      method: 'POST',
      headers,
      body: JSON.stringify(order),
    })
    const body = (await answer.json()) as Record<string, unknown>
    if (answer.status !== 200) throw new Error(`the acquirer refused: ${JSON.stringify(body)}`)
    return body
  }
  return {
    url,
    control,
    merchantOf,
    plan: async (...faults) => void (await control({ plan: faults })),
    async settle(merchantId, until) {
      const answer = await fetch(`${url}/settlements?at=${until.getTime()}`, {
        headers: { ...headers, 'x-merchant-id': merchantId },
      })
      if (answer.status !== 200) throw new Error(`the acquirer answered with ${answer.status}`)
      return ((await answer.json()) as { files: unknown[] }).files.length
    },
    async ledger() {
      const entries: LedgerEntry[] = []
      for (let after: number | null = 0; after !== null; ) {
        const answer = await fetch(`${url}/ledger?after=${after}`, { headers })
        const page = (await answer.json()) as { entries: LedgerEntry[]; next: number | null }
        entries.push(...page.entries)
        after = page.next
      }
      return entries
    },
    stop,
  }
}

type Running = Pick<Acquirer, 'url' | 'stop'>

async function startHere(ledger: string): Promise<Running> {
  const { url, close } = await startSimulator({ ledger })
  return { url, stop: close }
}

async function startApart(ledger: string): Promise<Running> {
  await bundlesAreCurrent()
  const child = spawn(process.execPath, [program, '--port', '0', '--ledger', ledger], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const mark = markOf(child.pid!)
  const exited = once(child, 'exit')
  const end = () => {
    if (mark !== null && stillRuns(mark)) process.kill(mark.pid, 'SIGKILL')
  }
  process.once('exit', end)
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    exited.then(() => Promise.reject(new Error('the acquirer ended at its start'))),
  ])) as [string]
  const { url } = JSON.parse(line) as { url: string }
  return {
    url,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await exited
      process.off('exit', end)
    },
  }
}
