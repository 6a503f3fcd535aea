/** A reply of an FTPS server has an end, or the connection has. */
import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createSecureContext, TLSSocket } from 'node:tls'
import { ftps } from '@tollgate/file-transfer'
import { Sensitive, TransferError } from '@tollgate/plugin-kit'
import { selfSigned } from '../../core/net/certificate.ts'

const { key, cert } = selfSigned('127.0.0.1')
const secureContext = createSecureContext({ key, cert })

/** By command, `hello` for the greeting: pieces that the client hears one by one. */
type Replies = Record<string, readonly string[]>

async function startServer(replies: Replies) {
  const sockets = new Set<Socket>()
  let isOver = false
  let sent = 0
  const server = createServer((plain) => {
    sockets.add(plain)
    plain.setNoDelay(true)
    plain
      .on('error', () => {})
      .on('close', () => {
        isOver = true
      })
    let control: Socket = plain
    const say = async (command: string) => {
      for (const piece of replies[command] ?? usual[command] ?? ['200 ok\r\n']) {
        if (isOver) return
        await new Promise((done) => control.write(piece, done))
        sent += 1
      }
      if (command !== 'AUTH') return
      plain.removeAllListeners('data')
      control = new TLSSocket(plain, { isServer: true, secureContext })
      control.on('error', () => {})
      hear()
    }
    const hear = () => control.on('data', (line) => void say(line.toString().split(/[ \r]/)[0]!))
    hear()
    void say('hello')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    /** Pieces of all replies. */
    sent: () => sent,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

const usual: Replies = {
  hello: ['220 hello\r\n'],
  AUTH: ['234 go on\r\n'],
  USER: ['331 password\r\n'],
  PASS: ['230 welcome\r\n'],
  FEAT: ['211 none\r\n'],
}

describe('FTPS, with long replies', () => {
  let server: Awaited<ReturnType<typeof startServer>> | undefined
  beforeEach(() => {
    server = undefined
  })
  afterEach(() => server?.close())

  async function logIn(replies: Replies): Promise<void> {
    server = await startServer(replies)
    const session = await ftps.open(
      {
        ...{ host: '127.0.0.1', port: server.port, user: 'me', folder: '.', ca: cert },
        password: new Sensitive('a long password'),
      },
      {
        addressOf: async () => '127.0.0.1',
        stepMs: 60_000,
        signal: new AbortController().signal,
      },
    )
    await session.close()
  }
  const endless = (error: unknown) => {
    assert.ok(TransferError.is(error), String(error))
    assert.deepEqual(
      [error.code, error.message],
      ['protocol', 'a reply of the server does not end'],
    )
    return true
  }
  const notice = 'Access for customers of the example company alone, all of it is recorded.'

  test('a greeting of 120 lines, and a list of 60 features, may come line by line', async () => {
    const greeting = Array.from({ length: 120 }, () => `${notice}\r\n`)
    const features = Array.from({ length: 60 }, (_, no) => ` SITE COMMAND-${no}\r\n`)
    await logIn({
      hello: ['220-\r\n', ...greeting, '220 hello\r\n'],
      PASS: ['230-\r\n', ...greeting, '230 welcome\r\n'],
      FEAT: ['211-Features:\r\n', ...features, '211 End\r\n'],
    })
  })

  for (const command of ['USER', 'PASS', 'FEAT']) {
    test(`a reply to ${command} of very many pieces ends the connection`, async () => {
      const code = usual[command]![0]!.slice(0, 3)
      const blank = Array<string>(20_000).fill('\n')
      await assert.rejects(
        logIn({ [command]: [`${code}-\n`, ...blank, `${code} go on\r\n`] }),
        endless,
      )
      assert.ok(server!.sent() < blank.length, `${server!.sent()} pieces`)
    })
  }

  for (const command of ['hello', 'USER']) {
    test(`a reply of 20,000 characters to ${command} ends the connection`, async () => {
      const code = usual[command]![0]!.slice(0, 3)
      const lines = 'x\n'.repeat(10_000)
      await assert.rejects(logIn({ [command]: [`${code}-\n${lines}${code} go on\r\n`] }), endless)
    })
  }

  test('a reply that goes on over several commands ends the connection', async () => {
    const lines = 'x\n'.repeat(5_000)
    await assert.rejects(
      logIn({ USER: [`331 password\r\n230-\n${lines}`], PASS: [`${lines}230 welcome\r\n`] }),
      endless,
    )
  })
})
