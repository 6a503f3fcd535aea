/**
 * A client that sends a request and reads its answer, over connections that are kept. Writes and reads HTTP by
 * hand, for what it costs is taken from the same two cores as what it measures.
 */
import { connect, type Socket } from 'node:net'

export type Answer = { readonly status: number; readonly text: string }

type Waiting = { readonly done: (answer: Answer) => void; readonly failed: (error: Error) => void }

class Connection {
  readonly #socket: Socket
  readonly #idle: Connection[]
  #text = ''
  #waiting: Waiting | undefined

  constructor(port: number, idle: Connection[]) {
    this.#idle = idle
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true }).setEncoding('latin1')
    this.#socket.on('data', (chunk: string) => this.#take(chunk))
    this.#socket.on('error', (error) => this.#end(error))
    this.#socket.on('close', () => this.#end(new Error('the connection was closed')))
  }

  ask(request: string): Promise<Answer> {
    return new Promise((done, failed) => {
      this.#waiting = { done, failed }
      this.#socket.write(request, 'latin1')
    })
  }

  /** One request at a time: what comes is its answer, whole when it has the length that it names. */
  #take(chunk: string): void {
    this.#text += chunk
    const end = this.#text.indexOf('\r\n\r\n')
    if (end === -1) return
    const length = /\r\ncontent-length: *([0-9]+)/i.exec(this.#text.slice(0, end))?.[1]
    if (length === undefined) {
      this.#end(new Error('an answer without a Content-Length'))
      return
    }
    const whole = end + 4 + Number(length)
    if (this.#text.length < whole) return
    const answer = {
      status: Number(this.#text.slice(9, 12)),
      text: this.#text.slice(end + 4, whole),
    }
    const waiting = this.#waiting
    this.#text = ''
    this.#waiting = undefined
    this.#idle.push(this)
    waiting?.done(answer)
  }

  #end(error: Error): void {
    const at = this.#idle.indexOf(this)
    if (at !== -1) this.#idle.splice(at, 1)
    this.#waiting?.failed(error)
    this.#waiting = undefined
    this.#socket.destroy()
  }
}

const idle = new Map<number, Connection[]>()

/** Sends a whole request to a server on this machine. Rejects when the connection ends before its answer. */
export function exchange(port: number, request: string): Promise<Answer> {
  const kept = idle.get(port) ?? []
  idle.set(port, kept)
  const connection = kept.pop() ?? new Connection(port, kept)
  return connection.ask(request)
}
