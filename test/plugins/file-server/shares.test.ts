/** One merchant takes a part of the SFTP server's places, and one connection a part of its memory. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, afterEach, before, describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sftpServer } from '@tollgate/file-server'
import {
  contractVersion,
  definePlugin,
  type RunningServer,
  Sensitive,
  type ServedFile,
  type ServerContext,
} from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import ssh2, { type Client, type SFTPWrapper } from 'ssh2'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import type { Sql } from '../../../core/db/sql.ts'
import { ReportFolder } from '../../../core/served-files/folder.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { publishReport } from '../../rig/report-files.ts'
import { newSshKey } from '../../rig/ssh-keys.ts'

const key = newSshKey('ed25519', { comment: 'back office' })
const clients: Client[] = []
const leave = () => {
  for (const client of clients.splice(0)) client.destroy()
}

/** @returns undefined when the login is refused. */
function logIn({ port }: RunningServer, username: string): Promise<Client | undefined> {
  const client = new ssh2.Client()
  clients.push(client)
  client.on('error', () => {})
  const came = new Promise<Client | undefined>((resolve) => {
    client.once('ready', () => resolve(client))
    client.once('close', () => resolve(undefined))
  })
  client.connect({ host: '127.0.0.1', port, username, privateKey: key.private })
  return came
}
const sftpOf = (client: Client | undefined) =>
  asked<SFTPWrapper>((done) => client!.sftp((error, sftp) => done(error, sftp)))
const asked = <T>(send: (done: (error: Error | null | undefined, value?: T) => void) => void) =>
  new Promise<T>((resolve, reject) =>
    send((error, value) => (error ? reject(error) : resolve(value as T))),
  )

describe('the server of a gateway', () => {
  afterEach(leave)
  let run: TestGateway
  let server: RunningServer
  before(async () => {
    const servers = [sftpServer({ connections: 8, perEntity: 3 })]
    const plugin = definePlugin({ name: 'file-server', contract: contractVersion, servers })
    run = await startGateway({ plugins: [plugin], role: 'api' })
    server = await run.gateway.servedFiles.listen('sftp', { host: '127.0.0.1', port: 0 })
  })
  after(async () => {
    await server.close()
    await run.close()
  })
  const withKey = async (entityId: string) => {
    await run.gateway.servedFiles.createKey({ entityId, publicKey: key.public })
    return entityId
  }
  const entity = async (kind: 'merchant' | 'channel', parentId: string) =>
    withKey(await run.gateway.entities.create({ kind, name: kind, parentId }))

  test('gives a merchant with many channels half of the places, and then those back that are idle', async () => {
    const all = [await withKey(run.merchant), await withKey(run.channel)]
    all.push(await entity('channel', run.merchant), await entity('channel', run.merchant))
    const own: (Client | undefined)[] = []
    for (const id of [...all, ...all]) own.push(await logIn(server, id))
    assert.deepEqual(
      own.map((client) => client !== undefined),
      [true, true, true, true, false, false, false, false],
    )
    const second = await entity('merchant', run.division)
    for (let no = 0; no < 3; no += 1) assert.ok(await logIn(server, second))
    assert.ok(await logIn(server, await entity('merchant', run.division)))
    // All eight places are taken. The first connection has just asked for something, so the second one is idle.
    const first = await sftpOf(own[0])
    await asked((done) => first.realpath('.', done))
    const ended: number[] = []
    for (const [no, client] of own.entries()) client?.once('close', () => ended.push(no))
    const closed = once(own[1]!, 'close')
    assert.ok(await logIn(server, await entity('merchant', run.division)))
    await closed
    assert.deepEqual(ended, [1])
  })

  test('reads the list of a folder once for all lists of some seconds', async () => {
    const database = new Database({ url: run.database.url })
    const lanes = new Lanes(database, { single: 1, read: 1 })
    try {
      let reads = 0
      let nowMs = 1_000
      const counting = {
        read(statement: Sql) {
          reads += 1
          return lanes.read(statement)
        },
      }
      const clock = { elapsedMs: () => nowMs }
      const merchant = await run.gateway.entities.create({
        kind: 'merchant',
        name: 'lists',
        parentId: run.division,
      })
      const folder = new ReportFolder(counting as unknown as Lanes, merchant, clock)
      const { name } = await publishReport(run, merchant, Buffer.from('a'))
      // Held, since nothing else keeps a list.
      const first = await Promise.all([folder.list(), folder.list()])
      const { name: later } = await publishReport(run, merchant, Buffer.from('b'))
      nowMs += limits.servedListMs - 1
      const names = async () => (await folder.list()).map((file) => file.name)
      assert.deepEqual([await names(), first[0]!.length, reads], [[name], 1, 1])
      nowMs += 1
      assert.deepEqual([await names(), reads], [[name, later], 2])
    } finally {
      await database.close()
    }
  })

  test('keeps one part of the files that a login has open', async () => {
    const names: string[] = []
    for (const letter of 'ab') {
      names.push((await publishReport(run, run.merchant, Buffer.alloc(70_000, letter))).name)
    }
    const database = new Database({ url: run.database.url })
    const lanes = new Lanes(database, { single: 1, read: 1 })
    try {
      let parts = 0
      const counting = {
        read(statement: Sql) {
          if (statement.strings.join('').includes('select bytes')) parts += 1
          return lanes.read(statement)
        },
      }
      const folder = new ReportFolder(counting as unknown as Lanes, run.merchant)
      const [a, b] = [await folder.open(names[0]!), await folder.open(names[1]!)]
      const text = async (from: typeof a, at: number) =>
        Buffer.from(await from!.read(at, 3)).toString()
      assert.deepEqual([await text(a, 0), await text(a, 10)], ['aaa', 'aaa'])
      assert.equal(parts, 1, 'reads onwards use the part that is there')
      assert.deepEqual(
        [await text(b, 0), await text(a, 0), await text(a, 66_000)],
        ['bbb', 'aaa', 'aaa'],
      )
      assert.equal(parts, 4, 'each other part replaces it')
    } finally {
      await database.close()
    }
  })
})

describe('lists of a folder', () => {
  afterEach(leave)
  let server: RunningServer
  let files: ServedFile[]
  const lists: WeakRef<readonly ServedFile[]>[] = []
  const named = (no: number) => ({ name: `report-${no}.csv`, bytes: 1, madeAt: new Date(0) })
  before(async () => {
    const context: ServerContext = {
      log: { debug() {}, info() {}, warn() {}, error() {} } as never,
      ownKey: async (_, make) => new Sensitive(make()),
      knows: async () => true,
      login: async (user) => ({
        entityId: user,
        folder: {
          async list() {
            const list = [...files]
            lists.push(new WeakRef(list))
            return list
          },
          stat: async () => undefined,
          open: async () => undefined,
        },
      }),
    }
    server = await sftpServer({ listed: 2 }).listen({ host: '127.0.0.1', port: 0 }, context)
  })
  after(() => server.close())

  const block = async (sftp: SFTPWrapper, handle: Buffer): Promise<string[] | 'end'> => {
    try {
      const found = await asked<{ filename: string }[]>((done) =>
        sftp.readdir(handle as never, done as never),
      )
      return found.map(({ filename }) => filename.replaceAll(/\D/g, ''))
    } catch {
      return 'end'
    }
  }

  test('read side by side are complete, also while files come and the oldest go', async () => {
    files = [1, 2, 3, 4, 5].map(named)
    const sftp = await sftpOf(await logIn(server, 'merchant'))
    const opened = () => asked<Buffer>((done) => sftp.opendir('/', done))
    const first = await opened()
    assert.deepEqual(await block(sftp, first), ['1', '2'])
    files = [3, 4, 5, 6].map(named)
    const second = await opened()
    assert.deepEqual(await block(sftp, second), ['3', '4'])
    assert.deepEqual(await block(sftp, first), ['3', '4'])
    assert.deepEqual(await block(sftp, first), ['5', '6'])
    assert.equal(await block(sftp, first), 'end')
    assert.equal(await block(sftp, first), 'end')
    assert.deepEqual(await block(sftp, second), ['5', '6'])
    assert.equal(await block(sftp, second), 'end')
  })

  test('take the memory of one for each connection, and of none when all are read', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const kept = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      collect()
      return lists.filter((list) => list.deref() !== undefined).length
    }
    files = [1].map(named)
    lists.length = 0
    const sftp = await sftpOf(await logIn(server, 'merchant'))
    const handles: Buffer[] = []
    for (let no = 0; no < 16; no += 1) {
      handles.push(await asked<Buffer>((done) => sftp.opendir('/', done)))
    }
    assert.equal(lists.length, 16)
    assert.equal(await kept(), 1)
    for (const handle of handles) {
      assert.deepEqual(await block(sftp, handle), ['1'])
      assert.equal(await block(sftp, handle), 'end')
    }
    assert.equal(await kept(), 0)
  })
})
