/**
 * A key server with the transit API of HashiCorp Vault and real encryption: AES-256-GCM under
 * versioned keys, tokens, namespaces, its own error bodies.
 */
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A misbehaviour of the server. */
export type Mischief =
  | { readonly status: number; readonly errors: readonly string[] }
  | { readonly body: string }
  | { readonly data: Readonly<Record<string, unknown>> }
  | 'silent'
  | 'reset'

type Asked = { readonly action: string; readonly headers: IncomingMessage['headers'] }

export type TransitServer = {
  readonly url: string
  /** May use this one key only. */
  readonly token: string
  /** Every request so far. */
  readonly asked: readonly Asked[]
  /** Adds a version of the key; the older ones still decrypt. @returns the version. */
  rotate(): number
  /** Refuses to decrypt older versions. */
  setMinimumVersion(version: number): void
  revokeToken(): void
  /** Applies to later requests; undefined restores normal behaviour. */
  misbehave(mischief: Mischief | undefined, actions?: readonly string[]): void
  /** Stops listening and breaks its connections; the keys stay. */
  stop(): Promise<void>
  /** Listens again on the same port. */
  resume(): Promise<void>
}

const namespaceHeader = 'x-vault-namespace'

export async function startTransitServer(
  options: { key?: string; mount?: string; namespace?: string } = {},
): Promise<TransitServer> {
  const { key = 'payments', mount = 'transit', namespace } = options
  const versions = [randomBytes(32)]
  const token = `hvs.${randomBytes(24).toString('base64url')}`
  const asked: Asked[] = []
  const sockets = new Set<Socket>()
  let minimum = 1
  let isRevoked = false
  let mischief: { what: Mischief; actions: readonly string[] | undefined } | undefined

  const encrypt = (plaintext: string) => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', versions.at(-1)!, nonce)
    const body = Buffer.concat([cipher.update(Buffer.from(plaintext, 'base64')), cipher.final()])
    const sealed = Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64')
    return { ciphertext: `vault:v${versions.length}:${sealed}`, key_version: versions.length }
  }
  const decrypt = (ciphertext: string): string => {
    const found = /^vault:v(\d+):(.+)$/.exec(ciphertext)
    if (found === null) throw new Problem(400, 'invalid ciphertext: no prefix')
    const version = Number(found[1])
    if (version < minimum) {
      throw new Problem(400, 'ciphertext or signature version is disallowed by policy (too old)')
    }
    const opened = versions[version - 1]
    if (opened === undefined) throw new Problem(400, 'invalid ciphertext: version is too new')
    const bytes = Buffer.from(found[2]!, 'base64')
    try {
      const decipher = createDecipheriv('aes-256-gcm', opened, bytes.subarray(0, 12))
      decipher.setAuthTag(bytes.subarray(-16))
      const plain = [decipher.update(bytes.subarray(12, -16)), decipher.final()]
      return Buffer.concat(plain).toString('base64')
    } catch {
      throw new Problem(400, 'cipher: message authentication failed')
    }
  }
  const carryOut = (action: string, body: Readonly<Record<string, string>>): object => {
    if (action === 'encrypt') return encrypt(body.plaintext ?? '')
    if (action === 'rewrap') return encrypt(decrypt(body.ciphertext ?? ''))
    return { plaintext: decrypt(body.ciphertext ?? '') }
  }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const path = new RegExp(`^/v1/${mount}/(encrypt|decrypt|rewrap)/([^/]+)$`).exec(
      request.url ?? '',
    )
    const action = path?.[1] ?? ''
    asked.push({ action, headers: request.headers })
    const reply = (status: number, body: unknown) => {
      response.writeHead(status, {
        'content-type': 'application/json',
        'cache-control': 'no-store',
      })
      response.end(typeof body === 'string' ? body : `${JSON.stringify(body)}\n`)
    }
    const wrong = mischief?.actions?.includes(action) === false ? undefined : mischief?.what
    if (wrong === 'silent') return
    if (wrong === 'reset') return void request.socket.destroy()
    if (wrong !== undefined && 'status' in wrong)
      return reply(wrong.status, { errors: wrong.errors })
    if (wrong !== undefined && 'body' in wrong) return reply(200, wrong.body)
    if (wrong !== undefined) return reply(200, { data: wrong.data })
    try {
      if (request.headers[namespaceHeader] !== namespace) throw new Problem(404)
      if (path === null) throw new Problem(404)
      if (request.method !== 'POST' && request.method !== 'PUT') throw new Problem(405)
      const isAllowed = request.headers['x-vault-token'] === token && !isRevoked && path[2] === key
      if (!isAllowed) throw new Problem(403, '1 error occurred:\n\t* permission denied\n\n')
      const data = carryOut(action, JSON.parse(Buffer.concat(chunks).toString()))
      reply(200, {
        request_id: randomUUID(),
        lease_id: '',
        renewable: false,
        lease_duration: 0,
        data,
        wrap_info: null,
        warnings: null,
        auth: null,
        mount_type: 'transit',
      })
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem
      reply(problem.status, { errors: problem.words })
    }
  }

  const listen = async (port: number) => {
    const server = createServer((request, response) => void answer(request, response))
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  let server = await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    asked,
    rotate: () => versions.push(randomBytes(32)),
    setMinimumVersion(version) {
      minimum = version
    },
    revokeToken() {
      isRevoked = true
    },
    misbehave(what, actions) {
      mischief = what === undefined ? undefined : { what, actions }
    },
    async stop() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
    async resume() {
      server = await listen(port)
    },
  }
}

class Problem extends Error {
  readonly status: number
  readonly words: readonly string[]

  constructor(status: number, ...words: readonly string[]) {
    super(words.join())
    this.status = status
    this.words = words
  }
}
