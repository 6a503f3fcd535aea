/** One request to a host over a kept connection. Cheap, because a run makes a million of them. */
import { Agent, request } from 'node:http'
import type { Answer } from './history.ts'

export type Address = {
  readonly name: string
  readonly url: string
  readonly token: string
  readonly strangerToken: string
}

/** The hosts that take requests now. */
export type Line = {
  /** One host for a number of at least 0 and below 1; undefined when none runs. */
  any(at: number): Address | undefined
}

export type Question = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly token: string
  readonly key?: string
  readonly body?: string
}

/** Unanswered requests by host. */
const open = new Map<string, number>()
/**
 * A host with this many gets no more while another one runs, as a load balancer treats a hanging
 * host.
 */
let mostOpen = Number.POSITIVE_INFINITY

/** @param merchants the number of simultaneous requests */
export function balanceBetween(merchants: number): void {
  mostOpen = Math.ceil(merchants * 0.65)
}

export const isOverloaded = (host: Address): boolean => (open.get(host.name) ?? 0) >= mostOpen

/** Shorter than some freezes, so that the merchant asks another host with the same key. */
const withinMs = 4_000
const agent = new Agent({ keepAlive: true, maxSockets: 512, scheduling: 'lifo' })

/** Undefined when no answer arrived. */
export async function ask(host: Address, question: Question): Promise<Answer | undefined> {
  open.set(host.name, (open.get(host.name) ?? 0) + 1)
  try {
    return await exchange(host, question)
  } finally {
    open.set(host.name, open.get(host.name)! - 1)
  }
}

function exchange(host: Address, question: Question): Promise<Answer | undefined> {
  const { method, path, token, key, body } = question
  return new Promise((resolve) => {
    const none = () => resolve(undefined)
    const sent = request(
      `${host.url}${path}`,
      {
        method,
        agent,
        timeout: withinMs,
        headers: {
          authorization: `Bearer ${token}`,
          ...(key === undefined ? {} : { 'idempotency-key': key }),
          ...(body === undefined
            ? {}
            : {
                'content-type': 'application/x-www-form-urlencoded',
                'content-length': Buffer.byteLength(body),
              }),
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', none)
        response.on('close', none)
        response.on('end', () => resolve(read(response.statusCode ?? 0, chunks)))
      },
    )
    sent.on('timeout', () => sent.destroy())
    sent.on('error', none)
    sent.on('close', none)
    sent.end(body)
  })
}

function read(status: number, chunks: readonly Buffer[]): Answer | undefined {
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as {
      id?: string
      result?: { code?: string }
      paymentType?: string
      amount?: string
    }
    return {
      status,
      id: body.id ?? '',
      code: body.result?.code ?? '',
      type: body.paymentType,
      amount: body.amount,
    }
  } catch {
    return undefined
  }
}
