/** A line to PostgreSQL that counts the statements which pass: every Execute, and every simple query. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type StatementCounter = {
  /** The address of the database through this line. */
  readonly url: string
  /** Statements so far, without those that begin or end a transaction. */
  readonly count: () => number
  close(): Promise<void>
}

const simpleQuery = 0x51
const execute = 0x45
const aroundTransactions = /^\s*(?:begin|commit|rollback)\b/i

/** @param url of the database */
export async function countStatements(url: string): Promise<StatementCounter> {
  const target = new URL(url)
  let statements = 0
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname)
    const messages = readMessages((type, body) => {
      if (type === simpleQuery && aroundTransactions.test(body.toString())) return
      if (type === simpleQuery || type === execute) statements += 1
    })
    for (const socket of [client, database]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => open.delete(socket))
    }
    client.on('data', (chunk: Buffer) => {
      messages(chunk)
      database.write(chunk)
    })
    database.on('data', (chunk: Buffer) => client.write(chunk))
    client.once('close', () => database.destroy())
    database.once('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(port)
  return {
    url: through.href,
    count: () => statements,
    async close() {
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** Frontend messages of protocol 3: the first has no type, each other a type and its length. */
function readMessages(tell: (type: number, body: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = false
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = isStarted ? 1 : 0
      if (rest.length < head + 4) return
      const end = head + rest.readUInt32BE(head)
      if (rest.length < end) return
      if (isStarted) tell(rest[0]!, rest.subarray(5, end))
      isStarted = true
      rest = rest.subarray(end)
    }
  }
}
