/**
 * Keeps room for the newest connection: whoever opens many and says nothing keeps nobody out. Beyond the limit, the
 * oldest connection without a request is closed, or the new one when every other has a request.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export class Connections {
  readonly #most: number
  /** The oldest first. */
  readonly #silent = new Set<Socket>()
  readonly #served = new Set<Socket>()

  constructor(most: number) {
    this.#most = most
  }

  add(socket: Socket): void {
    if (this.#silent.size + this.#served.size >= this.#most) {
      const [oldest] = this.#silent
      if (oldest === undefined) {
        socket.destroy()
        return
      }
      this.#silent.delete(oldest)
      oldest.destroy()
    }
    this.#silent.add(socket)
    socket.once('close', () => {
      this.#silent.delete(socket)
      this.#served.delete(socket)
    })
  }

  /** A request arrived whole, as far as its head: the connection stays until its response is sent. */
  serve(socket: Socket, response: ServerResponse): void {
    if (!this.#silent.delete(socket)) return
    this.#served.add(socket)
    response.once('close', () => {
      if (this.#served.delete(socket) && !socket.destroyed) this.#silent.add(socket)
    })
  }
}
