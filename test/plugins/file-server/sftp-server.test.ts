/** Merchants read their own report files by SFTP, and nothing else is possible there. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { sftpServer } from '@tollgate/file-server'
import { contractVersion, definePlugin, type RunningServer } from '@tollgate/plugin-kit'
import ssh2, { type Algorithms, type Client, type SFTPWrapper } from 'ssh2'
import { fingerprintOf } from '../../../plugins/file-transfer/ssh.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Published, publishReport } from '../../rig/report-files.ts'
import { newSshKey } from '../../rig/ssh-keys.ts'

const limits = {
  ...{ perEntity: 3, handles: 4, loginMs: 60_000, idleMs: 60_000, strangersPerNetwork: 4 },
  waitingBytes: 40_000,
}
const plugin = (more: object = {}) =>
  definePlugin({
    name: 'file-server',
    contract: contractVersion,
    servers: [sftpServer({ ...limits, ...more })],
  })
const pair = () => newSshKey('ed25519', { comment: 'back office' })

describe('the SFTP server', () => {
  const key = pair()
  let run: TestGateway
  let server: RunningServer
  let file: Published
  let other: string
  const clients: Client[] = []
  before(async () => {
    run = await startGateway({ plugins: [plugin()], role: 'api' })
    other = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    await run.gateway.servedFiles.createKey({ entityId: run.merchant, publicKey: key.public })
    file = await publishReport(run, run.merchant, Buffer.alloc(300_000, 'SETTLED;DB;92.00\r\n'))
    await publishReport(run, other, Buffer.from('of another merchant'))
    server = await run.gateway.servedFiles.listen('sftp', { host: '127.0.0.1', port: 0 })
  })
  after(async () => {
    for (const client of clients) client.destroy()
    await server.close()
    await run.close()
  })

  async function logIn(
    username = run.merchant,
    more: Readonly<Record<string, unknown>> = { privateKey: key.private },
  ): Promise<Client> {
    const client = new ssh2.Client()
    clients.push(client)
    client.on('error', () => {})
    const ready = new Promise<void>((resolve, reject) => {
      client.once('ready', resolve)
      client.once('close', () => reject(new Error('refused')))
    })
    client.connect({
      ...{ host: '127.0.0.1', port: server.port, username },
      hostVerifier: (shown: Buffer) => server.fingerprints.includes(fingerprintOf(shown)),
      ...more,
    })
    await ready
    return client
  }
  const sftpOf = (client: Client) =>
    new Promise<SFTPWrapper>((resolve, reject) =>
      client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp))),
    )
  const open = async () => {
    const client = await logIn()
    return { client, sftp: await sftpOf(client) }
  }
  /** The result of a request: its value, or the status of its refusal. */
  const ask = <T>(
    send: (done: (error: Error | null | undefined, value?: T) => void) => void,
  ): Promise<T | number | undefined> =>
    new Promise((resolve, reject) =>
      send((error, value) => {
        const { code } = (error ?? {}) as { code?: unknown }
        if (error && typeof code !== 'number') reject(error)
        else resolve(error ? (code as number) : value)
      }),
    )
  const noSuchFile = 2
  const denied = 3

  test('shows the files of its entity alone, and reads them whole from any offset', async () => {
    const { client, sftp } = await open()
    const entries = (await ask((done) => sftp.readdir('/', done as never))) as {
      filename: string
      attrs: { size: number }
    }[]
    assert.deepEqual(
      entries.map(({ filename, attrs }) => [filename, attrs.size]),
      [[file.name, file.bytes.length]],
    )
    const bytes = await ask<Buffer>((done) => sftp.readFile(`/${file.name}`, done as never))
    assert.ok(file.bytes.equals(bytes as Buffer))
    const handle = (await ask<Buffer>((done) => sftp.open(file.name, 'r', done))) as Buffer
    const block = Buffer.alloc(10)
    const read = (at: number) =>
      ask<number>((done) =>
        sftp.read(handle, block, 0, 10, at, (error, count) => done(error, count)),
      )
    assert.equal(await read(65_531), 5)
    assert.ok(block.subarray(0, 5).equals(file.bytes.subarray(65_531, 65_536)))
    assert.equal(await read(file.bytes.length + 5), 0)
    client.end()
  })

  test('lets nothing be written, removed, renamed, linked or made', async () => {
    const { client, sftp } = await open()
    const { name } = file
    const results = [
      await ask((done) => sftp.open(name, 'w', done)),
      await ask((done) => sftp.open('new.csv', 'a', done)),
      await ask((done) => sftp.open(name, 'r+', done)),
      await ask((done) => sftp.unlink(name, done)),
      await ask((done) => sftp.rename(name, 'other', done)),
      await ask((done) => sftp.mkdir('folder', done)),
      await ask((done) => sftp.rmdir('/', done)),
      await ask((done) => sftp.symlink('/etc/passwd', 'link', done)),
      await ask((done) => sftp.chmod(name, 0o777, done)),
    ]
    assert.deepEqual(
      results,
      results.map(() => denied),
    )
    client.end()
  })

  test('has no way out of the folder', async () => {
    const { client, sftp } = await open()
    const [foreign] = await run.sql<{ name: string }>(
      'select name from tollgate.report_file where entity_id = $1::uuid',
      [other],
    )
    for (const path of [
      '/etc/passwd',
      '../../etc/passwd',
      `/${run.merchant}/${file.name}`,
      `/../${other}/${foreign!.name}`,
      foreign!.name,
      `${file.name}\0.txt`,
      `${file.name}/`.concat('..//..//etc/passwd'),
      "x' or '1'='1",
      '%2e%2e/etc/passwd',
    ]) {
      assert.equal(await ask((done) => sftp.stat(path, done as never)), noSuchFile, path)
      assert.equal(await ask((done) => sftp.open(path, 'r', done)), noSuchFile, path)
      assert.ok(typeof (await ask((done) => sftp.readlink(path, done))) === 'number')
    }
    assert.equal(await ask((done) => sftp.realpath('../../..', done)), '/')
    assert.equal(await ask((done) => sftp.opendir('/etc', done)), noSuchFile)
    client.end()
  })

  test('has no shell, no commands and no forwarding', async () => {
    const client = await logIn()
    const refused = (begin: (done: (error?: Error) => void) => void) =>
      new Promise<boolean>((resolve) => begin((error) => resolve(error !== undefined)))
    assert.ok(await refused((done) => client.shell(done)))
    assert.ok(await refused((done) => client.exec('id', done)))
    assert.ok(await refused((done) => client.subsys('shell', done)))
    assert.ok(await refused((done) => client.forwardOut('127.0.0.1', 1, '127.0.0.1', 22, done)))
    assert.ok(await refused((done) => client.forwardIn('127.0.0.1', 0, done)))
    client.end()
  })

  test('accepts the keys of an entity for this entity alone, and no passwords', async () => {
    await assert.rejects(logIn(other), /refused/)
    await assert.rejects(logIn(run.psp), /refused/)
    await assert.rejects(logIn('root'), /refused/)
    await assert.rejects(logIn(run.merchant, { privateKey: pair().private }), /refused/)
    await assert.rejects(logIn(run.merchant, { password: 'guess' }), /refused/)
    await assert.rejects(logIn(run.merchant, {}), /refused/)
  })

  for (const [what, algorithms] of [
    ['compression before the login', { compress: ['zlib'] }],
    ['compression after the login', { compress: ['zlib@openssh.com'] }],
    ['Diffie-Hellman with large numbers', { kex: ['diffie-hellman-group18-sha512'] }],
    ['Diffie-Hellman', { kex: ['diffie-hellman-group14-sha256'] }],
  ] as [string, Algorithms][]) {
    test(`a client with ${what} alone is refused`, async () => {
      await assert.rejects(logIn(run.merchant, { privateKey: key.private, algorithms }), /refused/)
    })
  }

  test('a removed key opens nothing more, also over a connection that it opened before', async () => {
    const mine = pair()
    const { servedFiles } = run.gateway
    const { id } = await servedFiles.createKey({ entityId: run.merchant, publicKey: mine.public })
    const client = await logIn(run.merchant, { privateKey: mine.private })
    const sftp = await sftpOf(client)
    assert.ok(Buffer.isBuffer(await ask((done) => sftp.open(file.name, 'r', done))))
    const [used] = (await servedFiles.listKeys({ entityId: run.merchant })).keys
    assert.ok(used?.lastUsedAt !== undefined)
    await servedFiles.removeKey(id)
    const closed = once(client, 'close')
    sftp.open(file.name, 'r', () => {})
    await closed
    await assert.rejects(logIn(run.merchant, { privateKey: mine.private }), /refused/)
  })

  test('closing the entity, or one above it, closes its logins until it is open again', async () => {
    const { entities } = run.gateway
    for (const id of [run.merchant, run.division, run.psp]) {
      await entities.close(id)
      await assert.rejects(logIn(), /refused/)
      await entities.open(id)
      const client = await logIn()
      const closed = once(client, 'close')
      client.end()
      await closed
    }
  })

  test('a connection has a number of open files, and an entity a number of connections', async () => {
    const { client, sftp } = await open()
    const opened: unknown[] = []
    for (let count = 0; count < limits.handles + 1; count += 1) {
      opened.push(await ask<Buffer>((done) => sftp.open(file.name, 'r', done)))
    }
    assert.equal(opened.filter((handle) => Buffer.isBuffer(handle)).length, limits.handles)
    await ask((done) => sftp.close(opened[0] as Buffer, done))
    assert.ok(Buffer.isBuffer(await ask((done) => sftp.open(file.name, 'r', done))))
    const others = [await logIn(), await logIn()]
    await assert.rejects(logIn(), /refused/)
    for (const one of [client, ...others]) one.destroy()
    // The server learns of their ends a moment later.
    const again = await until(() => logIn().catch(() => undefined))
    again.destroy()
  })

  test('connections without a login end, and those without requests', async () => {
    const withLimit = async (more: object, work: (port: number) => Promise<unknown>) => {
      const pod = await run.another({ plugins: [plugin(more)], role: 'api' })
      const there = await pod.servedFiles.listen('sftp', { host: '127.0.0.1', port: 0 })
      await work(there.port)
      await there.close()
      await pod.close()
    }
    await withLimit({ loginMs: 200 }, (port) =>
      Promise.all(
        Array.from({ length: 6 }, () => {
          const socket = connect(port, '127.0.0.1')
          socket.on('error', () => {}).resume()
          return once(socket, 'close')
        }),
      ),
    )
    await withLimit({ idleMs: 200 }, async (port) => {
      const client = await logIn(run.merchant, { privateKey: key.private, port })
      await once(client, 'close')
    })
  })

  test('a stranger who comes again from the same port before the end of the last connection is heard ends nothing', async () => {
    const come = (localPort?: number) => {
      const socket = connect({ host: '127.0.0.1', port: server.port, localPort })
      socket.on('error', () => {}).resume()
      return socket
    }
    let returned = 0
    for (let count = 0; count < 40 && returned < 20; count += 1) {
      const silent = come()
      await once(silent, 'data')
      const { localPort } = silent
      // Both reach the server within one turn of its loop.
      silent.resetAndDestroy()
      const loud = come(localPort)
      loud.write(`SSH-2.0-x\r\n${'\xff'.repeat(64)}`)
      // On a busy machine the port may be in use for a moment longer, or by another program.
      const came = await once(loud, 'close').then(
        () => true,
        () => false,
      )
      if (came) returned += 1
    }
    assert.ok(returned >= 10, `${returned} came again from the same port`)
    // The limits of the address end with the connections.
    const client = await until(() => logIn().catch(() => undefined))
    client.destroy()
  })

  /** Bytes that lead to no answer and to no request, in packets of a channel that does not exist. */
  const send = (client: Client, bytes: number) => {
    const { _protocol: protocol } = client as unknown as {
      readonly _protocol: { channelData(channel: number, data: Buffer): void }
    }
    for (let sent = 0; sent < bytes; sent += 16_384) protocol.channelData(77, Buffer.alloc(16_384))
  }

  test('a stranger who sends more than a login takes is out', async () => {
    const logInAfter = (bytes: number) =>
      logIn(run.merchant, {
        authHandler: (_left: unknown, _partial: unknown, next: (method: unknown) => void) => {
          send(clients.at(-1)!, bytes)
          next({ type: 'publickey', username: run.merchant, key: key.private })
        },
      })
    const client = await logInAfter(30_000)
    client.destroy()
    await assert.rejects(logInAfter(300_000), /refused/)
  })

  test('the answers to a dialogue that the server refuses are not read', async () => {
    type Inner = {
      readonly _sock: Socket
      readonly _protocol: {
        readonly _packetRW: {
          readonly write: { readonly allocStart: number; finalize(packet: Buffer): Buffer }
        }
        authInfoRes(answers: readonly string[]): void
      }
    }
    let isBegun = false
    const client = await logIn(run.merchant, {
      authHandler: (_left: unknown, _partial: unknown, next: (method: unknown) => void) => {
        if (isBegun) return next({ type: 'publickey', username: run.merchant, key: key.private })
        isBegun = true
        const { _sock: socket, _protocol: protocol } = clients.at(-1) as unknown as Inner
        const { write } = protocol._packetRW
        const { allocStart, finalize } = write
        // Both packets reach the server at once.
        socket.cork()
        next({ type: 'keyboard-interactive', username: run.merchant, prompt() {} })
        write.finalize = (packet) => {
          // More answers than the packet has: the library ends the connection if it reads them.
          packet.writeUInt32BE(1_000, allocStart + 1)
          return finalize.call(write, packet)
        }
        protocol.authInfoRes(['an answer'])
        write.finalize = finalize
        socket.uncork()
      },
    })
    client.destroy()
  })

  test('a client that sends very much between two requests loses its connection', async () => {
    const { client, sftp } = await open()
    const closed = new Promise((resolve) => client.once('close', () => resolve('ended')))
    const asked = () => ask((done) => sftp.stat('none', done as never))
    for (let count = 0; count < 3; count += 1) {
      send(client, 300_000)
      assert.equal(await Promise.race([closed, asked()]), noSuchFile)
    }
    send(client, 1_000_000)
    assert.equal(await Promise.race([closed, asked().catch(() => closed)]), 'ended')
  })

  test('a client that asks without waiting for answers does not fill the memory, and its connection ends', async () => {
    const { client, sftp } = await open()
    const handle = (await ask<Buffer>((done) => sftp.open(file.name, 'r', done))) as Buffer
    const closed = new Promise<void>((resolve) => client.once('close', resolve))
    for (let count = 0; count < 5_000; count += 1) {
      sftp.read(handle, Buffer.alloc(30_000), 0, 30_000, 0, () => {})
    }
    await closed
  })

  test('a client with longer paths than any file has, or with many long ones at once, loses its connection', async () => {
    const long = `/${'a'.repeat(4_000)}`
    for (const paths of [[`${long}${long}`], Array<string>(100).fill(long)]) {
      const { client, sftp } = await open()
      const closed = new Promise((resolve) => client.once('close', () => resolve('ended')))
      const answers = paths.map((path) => ask((done) => sftp.stat(path, done as never)))
      assert.equal(await Promise.race([closed, Promise.allSettled(answers)]), 'ended')
      client.destroy()
    }
    const { client, sftp } = await open()
    assert.equal(await ask((done) => sftp.stat(long, done as never)), noSuchFile)
    client.end()
  })

  test('all processes have the same host keys, which the database holds sealed', async () => {
    const second = await run.another({ role: 'api' })
    const there = await second.servedFiles.listen('sftp', { host: '127.0.0.1', port: 0 })
    assert.deepEqual(there.fingerprints, server.fingerprints)
    const rows = await run.sql<{ sealed: Buffer }>('select sealed from tollgate.server_key')
    assert.equal(rows.length, 2)
    for (const { sealed } of rows) assert.doesNotMatch(sealed.toString('latin1'), /PRIVATE KEY/)
    await there.close()
    await second.close()
  })
})
