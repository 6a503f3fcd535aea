import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Answer = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Ends the connection without an answer. */
  readonly cut?: true
}

export type Served = { readonly origin: string; readonly close: () => Promise<void> }

/** An HTTP server on an origin of its own. `localhost` and `127.0.0.1` are different sites. */
export async function serve(
  host: '127.0.0.1' | 'localhost',
  answer: (request: IncomingMessage, body: string) => Answer | Promise<Answer>,
): Promise<Served> {
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => void reply(response, answer(request, Buffer.concat(parts).toString())))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function reply(response: ServerResponse, made: Answer | Promise<Answer>): Promise<void> {
  const { status = 200, headers = {}, body = '', cut } = await made
  if (cut === true) {
    response.destroy()
    return
  }
  response.writeHead(status, headers)
  response.end(body)
}

export const html = (body: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers },
  body,
})
