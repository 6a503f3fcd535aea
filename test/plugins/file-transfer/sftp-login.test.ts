/** An SFTP server can neither fill the process that logs in there, nor keep it busy. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, test } from 'node:test'
import { sftp } from '@tollgate/file-transfer'
import { Sensitive, TransferError, type TransferErrorCode } from '@tollgate/plugin-kit'
import ssh2, { type Connection, type KeyboardAuthContext } from 'ssh2'
import { limitServer } from '../../../plugins/file-transfer/server-limits.ts'
import { fingerprintOf } from '../../../plugins/file-transfer/ssh.ts'
import { newSshKey } from '../../rig/ssh-keys.ts'

const key = newSshKey().private
const hostKey = fingerprintOf((ssh2.utils.parseKey(key) as ssh2.ParsedKey).getPublicSSH())

/** Bytes that no answer needs, in packets of a channel that does not exist. */
function send(connection: Connection, bytes: number): void {
  const { _protocol: protocol } = connection as unknown as {
    readonly _protocol: { channelData(channel: number, data: Buffer): void }
  }
  for (let sent = 0; sent < bytes; sent += 16_384) protocol.channelData(77, Buffer.alloc(16_384))
}

describe('SFTP, with a server that sends too much', () => {
  let server: ssh2.Server | undefined
  afterEach(() => server?.close())

  /** @param login decides on a dialogue @param act comes before the answer to a request */
  async function use(
    login: (context: KeyboardAuthContext, connection: Connection) => void,
    act = (_: Connection) => {},
  ): Promise<void> {
    server = new ssh2.Server({ hostKeys: [key] }, (connection) => {
      connection.on('error', () => {})
      connection.on('authentication', (context) => {
        if (context.method === 'keyboard-interactive') login(context, connection)
        else context.reject(['keyboard-interactive'])
      })
      connection.on('session', (accept) =>
        accept().on('sftp', (acceptSftp) => {
          const channel = acceptSftp()
          channel.on('REMOVE', (id) => {
            act(connection)
            channel.status(id, 2)
          })
        }),
      )
    })
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const session = await sftp.open(
      {
        ...{ host: 'sftp.example.com', port, user: 'me', folder: '.', hostKeys: [hostKey] },
        password: new Sensitive('a long password'),
      },
      {
        addressOf: async () => '127.0.0.1',
        stepMs: 60_000,
        signal: new AbortController().signal,
      },
    )
    try {
      for (let count = 0; count < 3; count += 1) await session.remove('x.csv')
    } finally {
      await session.close()
    }
  }
  const failsWith = (code: TransferErrorCode, message: string) => (error: unknown) => {
    assert.ok(TransferError.is(error), String(error))
    assert.deepEqual([error.code, error.message], [code, message])
    return true
  }
  /** Asks so many questions, each of so many prompts, and tells how many answers come. */
  const asking = (questions: number, prompts: number) => {
    const answers: string[] = []
    const ask = (context: KeyboardAuthContext) => {
      if (questions === 0) return context.accept()
      questions -= 1
      context.prompt(Array<string>(prompts).fill('Password: '), (given) => {
        answers.push(...given)
        ask(context)
      })
    }
    return { ask, answers }
  }

  test('a server may ask for the password in a dialogue, and again for a new one', async () => {
    for (const [questions, prompts] of [
      [1, 1],
      [2, 2],
    ] as const) {
      const { ask, answers } = asking(questions, prompts)
      await use(ask)
      assert.deepEqual(answers, Array(questions * prompts).fill('a long password'))
      server!.close()
    }
  })

  for (const [questions, prompts] of [
    [20, 1],
    [1, 1_000],
  ] as const) {
    test(`a server that asks ${questions} questions of ${prompts} prompts is left`, async () => {
      const { ask, answers } = asking(questions, prompts)
      const more = 'sftp.example.com asks for more than a password at the login of me'
      await assert.rejects(use(ask), failsWith('login', more))
      assert.ok(answers.length <= 4, `${answers.length} answers`)
    })
  }

  test('a server that sends more than a login takes is left before the login', async () => {
    const more = failsWith('protocol', 'sftp.example.com sends more than a login takes')
    const login = (bytes: number) => (context: KeyboardAuthContext, connection: Connection) => {
      send(connection, bytes)
      context.accept()
    }
    await use(login(100_000))
    server!.close()
    await assert.rejects(use(login(400_000)), more)
  })

  test('a server that sends more than an answer takes is left after the login', async () => {
    const { ask } = asking(0, 0)
    // Each answer has a limit of its own.
    await use(ask, (connection) => send(connection, 300_000))
    server!.close()
    const more = failsWith('protocol', 'sftp.example.com sends more than an answer takes')
    await assert.rejects(
      use(ask, (connection) => send(connection, 800_000)),
      more,
    )
  })

  test('a server that does not read is left when too much waits for it', () => {
    const ends: unknown[] = []
    const socket = Object.assign(new EventEmitter(), {
      writableLength: 2_000_000,
      ...{ pause() {}, resume() {} },
    })
    limitServer(socket as unknown as Socket, 'sftp.example.com', (error) => ends.push(error.code))
    socket.emit('data', Buffer.alloc(52))
    assert.deepEqual(ends, [])
    socket.writableLength = 2_200_000
    socket.emit('data', Buffer.alloc(52))
    assert.deepEqual(ends, ['protocol'])
  })
})
