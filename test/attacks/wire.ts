/** Raw connections: pipelined requests and malformed bytes. */
import { connect, type Socket } from 'node:net'

/** One answer. Status 0: the connection closed before it. */
export type Answer = {
  readonly status: number
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export const noAnswer: Answer = { status: 0, headers: new Map(), body: '' }

/** Reads answers from a stream of bytes, each with a Content-Length or without a body. */
export class AnswerReader {
  #bytes: Buffer = Buffer.alloc(0)

  /** Returns the complete answers. */
  add(chunk: Buffer): Answer[] {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    const answers: Answer[] = []
    for (;;) {
      const end = this.#bytes.indexOf('\r\n\r\n')
      if (end === -1) return answers
      const [first = '', ...lines] = this.#bytes.toString('latin1', 0, end).split('\r\n')
      const headers = new Map<string, string>()
      for (const line of lines) {
        const colon = line.indexOf(':')
        headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
      }
      const status = Number(first.split(' ', 2)[1])
      const length = Number(headers.get('content-length') ?? 0)
      const whole = end + 4 + length
      if (this.#bytes.length < whole) return answers
      const body = this.#bytes.toString('utf8', end + 4, whole)
      this.#bytes = this.#bytes.subarray(whole)
      // 100 Continue precedes the answer.
      if (status !== 100) answers.push({ status, headers, body })
    }
  }

  /** Bytes that belong to no complete answer. */
  get rest(): number {
    return this.#bytes.length
  }
}

export const open = (url: string, localAddress?: string): Socket => {
  const { hostname, port } = new URL(url)
  const half = { noDelay: true, allowHalfOpen: true }
  return connect({ ...half, host: hostname, port: Number(port), localAddress })
}

/**
 * Sends pipelined requests over kept connections and returns the answers in order. A request whose
 * connection closed before its answer is sent once more, then given up.
 */
export async function sendAll(
  url: string,
  requests: readonly Buffer[],
  more: { connections: number; pipelined: number; withinMs: number },
): Promise<Answer[]> {
  const answers: Answer[] = new Array(requests.length).fill(noAnswer)
  const tries = new Uint8Array(requests.length)
  let queue = requests.keys().toArray()
  while (queue.length > 0) {
    const waiting = queue.values()
    await Promise.all(
      Array.from({ length: Math.min(more.connections, queue.length) }, () =>
        oneConnection(url, requests, waiting, answers, more),
      ),
    )
    queue = queue.filter((at) => {
      tries[at]! += 1
      return answers[at]!.status === 0 && tries[at]! < 3
    })
  }
  return answers
}

function oneConnection(
  url: string,
  requests: readonly Buffer[],
  waiting: Iterator<number>,
  answers: Answer[],
  { pipelined, withinMs }: { pipelined: number; withinMs: number },
): Promise<void> {
  return new Promise((resolve) => {
    const socket = open(url)
    const reader = new AnswerReader()
    const sent: number[] = []
    let answered = 0
    let isOver = false
    // Silence this long counts as a hang, and the requests under way stay unanswered.
    socket.setTimeout(withinMs, () => socket.destroy())
    const fill = () => {
      while (!isOver && sent.length - answered < pipelined) {
        const next = waiting.next()
        if (next.done === true) isOver = true
        else {
          sent.push(next.value)
          socket.write(requests[next.value]!)
        }
      }
      if (isOver && answered === sent.length) socket.destroy()
    }
    socket.once('connect', fill)
    socket.on('data', (chunk) => {
      for (const answer of reader.add(chunk)) {
        const at = sent[answered]
        answered += 1
        if (at !== undefined) answers[at] = answer
      }
      fill()
    })
    socket.on('end', () => socket.destroy())
    socket.on('error', () => {})
    socket.once('close', () => resolve())
  })
}

export type Exchange = {
  readonly answers: readonly Answer[]
  readonly rest: number
  readonly closed: boolean
}

/** Time after an answer on a kept connection, in which a hidden request would be answered. */
const quietMs = 250

/**
 * Sends bytes on a new connection and returns all bytes received until the server closes it, or
 * until silence after `expected` answers. `closed` is false when neither happens in time.
 */
export function exchange(
  url: string,
  bytes: Buffer | string,
  withinMs: number,
  expected = 1,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = open(url)
    const reader = new AnswerReader()
    const answers: Answer[] = []
    let closed = true
    let quiet: NodeJS.Timeout | undefined
    const give = setTimeout(() => {
      closed = false
      socket.destroy()
    }, withinMs)
    socket.once('connect', () => socket.write(bytes))
    socket.on('data', (chunk) => {
      answers.push(...reader.add(chunk))
      clearTimeout(quiet)
      if (answers.length >= expected) quiet = setTimeout(() => socket.destroy(), quietMs)
    })
    socket.on('end', () => socket.destroy())
    socket.on('error', () => {})
    socket.once('close', () => {
      clearTimeout(give)
      clearTimeout(quiet)
      resolve({ answers, rest: reader.rest, closed })
    })
  })
}

/** A request with its headers and its length. */
export function requestBytes(
  method: string,
  path: string,
  headers: readonly (readonly [name: string, value: string])[],
  body: Buffer | undefined,
): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: tollgate']
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  if (body !== undefined) lines.push(`Content-Length: ${body.length}`)
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return body === undefined ? head : Buffer.concat([head, body])
}

/** A form with its fields. */
export const formBytes = (fields: Readonly<Record<string, string>>): Buffer =>
  Buffer.from(new URLSearchParams(fields).toString())

/** An ordinary POST of a form. */
export const post = (
  path: string,
  token: string,
  fields: Readonly<Record<string, string>>,
  more: readonly (readonly [string, string])[] = [],
): Buffer =>
  requestBytes(
    'POST',
    path,
    [
      ['Authorization', `Bearer ${token}`],
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ...more,
    ],
    formBytes(fields),
  )

export const get = (path: string, token?: string): Buffer =>
  requestBytes(
    'GET',
    path,
    token === undefined ? [] : [['Authorization', `Bearer ${token}`]],
    undefined,
  )
