/**
 * A client that sends a request and reads its answer over kept connections. It reads and writes
 * HTTP by hand, because it shares two cores with the measured host.
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

  /** One request at a time: the received bytes are its answer, complete at the announced length. */
  #take(chunk: string): void {
    this.#text += chunk
    const end = this.#text.indexOf('\r\n\r\n')
    if (end === -1) return
    const head = this.#text.slice(0, end)
    const length = /\r\ncontent-length: *([0-9]+)/i.exec(head)?.[1]
    if (length === undefined) {
      const line = this.#text.split('\r\n', 1)[0]
      this.#end(new Error(`an answer without a Content-Length: ${line}`))
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
    // A host ends a connection after many requests, and says so in the last answer.
    if (/\r\nconnection: *close/i.test(head)) this.#socket.destroy()
    else this.#idle.push(this)
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

/** Sends a whole request to a local server. Rejects when the connection ends before the answer. */
export function exchange(port: number, request: string): Promise<Answer> {
  const kept = idle.get(port) ?? []
  idle.set(port, kept)
  const connection = kept.pop() ?? new Connection(port, kept)
  return connection.ask(request)
}
