/** Files get to an SFTP folder whole, once, and under their name only when complete. */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { sftp } from '@tollgate/file-transfer'
import {
  type OutgoingFile,
  type Put,
  Sensitive,
  TransferError,
  type TransferErrorCode,
  type TransferTarget,
} from '@tollgate/plugin-kit'
import type { Algorithms } from 'ssh2'
import { type SftpFolder, startSftpFolder } from '../../rig/sftp-folder.ts'
import { madeUpRsaKey, newSshKey, openSshFile } from '../../rig/ssh-keys.ts'

const name = 'settlement-0007.csv'
const content = Buffer.alloc(1_000_000, 'ReconciliationType;PaymentType\r\n')
describe('SFTP', () => {
  let folder: SftpFolder
  let renamings = 0

  beforeEach(async () => {
    folder = await startSftpFolder()
    renamings = 0
  })
  afterEach(() => folder.close())

  const fileOf = (more: Partial<OutgoingFile> = {}): OutgoingFile => ({
    name,
    bytes: content.length,
    async *open() {
      for (let at = 0; at < content.length; at += 300_000) yield content.subarray(at, at + 300_000)
    },
    isRenaming: renamings > 0,
    async renaming() {
      renamings += 1
    },
    ...more,
  })

  const targetOf = (more: Partial<TransferTarget> = {}): TransferTarget => ({
    host: 'sftp.example.com',
    port: folder.port,
    user: folder.user,
    password: new Sensitive(folder.password),
    folder: '.',
    hostKeys: [folder.hostKey],
    ...more,
  })

  async function push(
    file: OutgoingFile = fileOf(),
    target = targetOf(),
    { stepMs = 60_000, signal = new AbortController().signal } = {},
  ): Promise<Put> {
    const session = await sftp.open(target, { addressOf: async () => '127.0.0.1', stepMs, signal })
    try {
      return await session.put(file)
    } finally {
      await session.close()
    }
  }

  const failsWith = (code: TransferErrorCode, text: RegExp) => (error: unknown) => {
    assert.ok(TransferError.is(error), String(error))
    assert.equal(error.code, code, error.message)
    assert.match(error.message, text)
    assert.doesNotMatch(error.message, /a long password/)
    return true
  }

  const stored = () => readFileSync(join(folder.path, name))
  const hasFinal = () => existsSync(join(folder.path, name))

  test('a reader of the folder never meets a part of a file under the final name', async () => {
    const sizes = new Set<number>()
    let looks = 0
    folder.watch(() => {
      looks += 1
      if (hasFinal()) sizes.add(statSync(join(folder.path, name)).size)
    })
    assert.equal(await push(), 'stored')
    assert.ok(looks > 20)
    assert.deepEqual([...sizes], [content.length])
    assert.ok(stored().equals(content))
    assert.deepEqual(readdirSync(folder.path), [name])
  })

  test('a file that is there already is recognised by its size and not sent again', async () => {
    await push()
    folder.log.length = 0
    renamings = 0
    assert.equal(await push(), 'was-there')
    assert.deepEqual(folder.log, [])
  })

  test('another file of the same name is never overwritten', async () => {
    writeFileSync(join(folder.path, name), 'of somebody else')
    await assert.rejects(
      push(),
      failsWith('name-taken', /another file named settlement-0007\.csv, of 16 /),
    )
    assert.equal(stored().toString(), 'of somebody else')
  })

  test('a connection that ends in the middle leaves only the part, and the next try replaces it', async () => {
    folder.fail('write', 'cut', 20)
    await assert.rejects(push(), failsWith('closed', /ended/))
    assert.ok(!hasFinal())
    folder.heal()
    assert.equal(await push(), 'stored')
    assert.ok(stored().equals(content))
  })

  test('a lost answer to the rename doubles nothing: the file is recognised where it is', async () => {
    folder.fail('renamed', 'cut')
    await assert.rejects(push(), failsWith('closed', /ended/))
    folder.heal()
    folder.log.length = 0
    assert.equal(await push(), 'was-there')
    assert.deepEqual(folder.log, [])
  })

  test('a file that its reader took away after a lost answer is not sent again', async () => {
    folder.fail('renamed', 'cut')
    await assert.rejects(push(), failsWith('closed', /ended/))
    folder.heal()
    renameSync(join(folder.path, name), join(folder.path, 'taken'))
    assert.equal(await push(), 'was-taken')
    assert.deepEqual(readdirSync(folder.path), ['taken'])
  })

  test('a folder that is missing proves nothing about a reader', async () => {
    const [inside, away] = [join(folder.path, 'in'), join(folder.path, 'away')]
    mkdirSync(inside)
    folder.fail('rename', 'cut')
    const target = targetOf({ folder: 'in' })
    await assert.rejects(push(fileOf(), target), failsWith('closed', /ended/))
    folder.heal()
    renameSync(inside, away)
    await assert.rejects(push(fileOf(), target), failsWith('folder', /no such folder/))
    renameSync(away, inside)
    assert.equal(await push(fileOf(), target), 'stored')
    assert.deepEqual(readdirSync(inside), [name])
  })

  test('a folder without an end proves nothing about a reader, and fills no memory', async () => {
    folder.fail('rename', 'cut')
    await assert.rejects(push(), failsWith('closed', /ended/))
    folder.heal()
    unlinkSync(join(folder.path, `${name}.part`))
    folder.endless = Array.from({ length: 2_000 }, (_, no) => `old-${no}.csv`)
    const ended = push(undefined, undefined, { signal: AbortSignal.timeout(20_000) })
    await assert.rejects(ended, failsWith('folder', /more than 100000 entries/))
  })

  test('a rename that did not happen is requested again without writing the file again', async () => {
    folder.fail('rename', 'cut')
    await assert.rejects(push(), failsWith('closed', /ended/))
    folder.heal()
    folder.log.length = 0
    assert.equal(await push(), 'stored')
    assert.deepEqual(folder.log, [`rename ${name}.part ${name}`])
    assert.ok(stored().equals(content))
  })

  test('a rename that is answered with an error although it happened counts as done', async () => {
    folder.fail('renamed', 'failure')
    assert.equal(await push(), 'stored')
  })

  test('nothing gets its name after the right to send was lost', async () => {
    const lost = async () => {
      throw new TransferError('aborted', 'another process sends the file')
    }
    await assert.rejects(push(fileOf({ renaming: lost })), failsWith('aborted', /another process/))
    assert.ok(!hasFinal())
  })

  for (const moment of ['login', 'stat', 'open', 'write', 'close', 'rename'] as const) {
    test(`a server that hangs at ${moment} is left after the time limit`, async () => {
      folder.fail(moment, 'hang')
      await assert.rejects(
        push(undefined, undefined, { stepMs: 300 }),
        failsWith('timeout', /0\.3 s/),
      )
      folder.heal()
      assert.equal(await push(), 'stored')
      assert.ok(stored().equals(content))
    })
  }

  test('an end from outside stops a transfer that hangs', async () => {
    folder.fail('write', 'hang', 3)
    const ending = new AbortController()
    folder.watch(() => ending.abort())
    await assert.rejects(
      push(undefined, undefined, { signal: ending.signal }),
      failsWith('aborted', /given up/),
    )
    assert.ok(!hasFinal())
  })

  test('a transfer that takes too long is told as that', async () => {
    folder.fail('write', 'hang', 3)
    const limit = new AbortController()
    folder.watch(() => limit.abort(new DOMException('too long', 'TimeoutError')))
    await assert.rejects(
      push(undefined, undefined, { signal: limit.signal }),
      failsWith('timeout', /the transfer took too long/),
    )
    assert.ok(!hasFinal())
  })

  test('a private key that cannot be read is told as that', async () => {
    const { password: _, ...target } = targetOf()
    const privateKey = new Sensitive('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----')
    await assert.rejects(
      push(undefined, { ...target, privateKey }),
      failsWith('login', /the private key of the login cannot be read/),
    )
  })

  test('a stored key of more than 8192 bits signs nothing', async () => {
    const { password: _, ...target } = targetOf()
    for (const key of Object.values(madeUpRsaKey(9_000))) {
      await assert.rejects(
        push(undefined, { ...target, privateKey: new Sensitive(key) }),
        failsWith('login', /the RSA key of the login has more than 8192 bits: store a smaller one/),
      )
    }
  })

  test('a stored key of a type whose numbers may have any length signs nothing', async () => {
    const { password: _, ...target } = targetOf()
    const key = openSshFile('ssh-dss', Array(5).fill(Buffer.of(7)))
    await assert.rejects(
      push(undefined, { ...target, privateKey: new Sensitive(key) }),
      failsWith('login', /neither RSA nor ECDSA nor Ed25519: store another one/),
    )
  })

  test('keys of every type log in', async () => {
    const { password: _, ...target } = targetOf()
    for (const type of ['ed25519', 'ecdsa', 'rsa'] as const) {
      const { private: key } = newSshKey(type, { bits: type === 'rsa' ? 2048 : 256 })
      await push(undefined, { ...target, privateKey: new Sensitive(key) })
    }
  })

  for (const [what, algorithms] of [
    ['compression before the login', { compress: ['zlib'] }],
    ['compression after the login', { compress: ['zlib@openssh.com'] }],
    ['Diffie-Hellman with large numbers', { kex: ['diffie-hellman-group18-sha512'] }],
  ] as [string, Algorithms][]) {
    test(`a server that offers ${what} alone is left`, async () => {
      const strange = await startSftpFolder(algorithms)
      const target = targetOf({ port: strange.port, hostKeys: [strange.hostKey] })
      const refused = failsWith('protocol', /shares no secure SSH algorithms/)
      await assert.rejects(push(undefined, target).finally(strange.close), refused)
    })
  }

  test('an RSA host key of more than 8192 bits is refused, also where it is pinned', async () => {
    const strange = await startSftpFolder({}, madeUpRsaKey(9_000).pem)
    const target = targetOf({ port: strange.port, hostKeys: [strange.hostKey] })
    const refused = failsWith('protocol', /host key of sftp\.example\.com has more than 8192 bits/)
    await assert.rejects(push(undefined, target).finally(strange.close), refused)
  })

  test('a full disk is told, and nothing gets the final name', async () => {
    folder.fail('write', 'failure', 10)
    await assert.rejects(push(), failsWith('not-stored', /disk may be full/))
    assert.ok(!hasFinal())
  })

  test('another host key than the pinned one ends the connection before the login', async () => {
    const hostKeys = [`SHA256:${'A'.repeat(43)}`]
    const wrong = failsWith(
      'wrong-server',
      /host key of sftp\.example\.com is SHA256:.{43}, and another/,
    )
    await assert.rejects(push(fileOf(), targetOf({ hostKeys })), wrong)
    await assert.rejects(
      push(fileOf(), targetOf({ hostKeys: [] })),
      failsWith('wrong-server', /no host key/),
    )
    assert.deepEqual(folder.log, [])
  })

  test('a second pinned host key lets the server change its key', async () => {
    const hostKeys = [`SHA256:${'A'.repeat(43)}`, folder.hostKey]
    assert.equal(await push(fileOf(), targetOf({ hostKeys })), 'stored')
  })

  test('a wrong password and a wrong port are told apart', async () => {
    const password = new Sensitive('wrong')
    await assert.rejects(
      push(fileOf(), targetOf({ password })),
      failsWith('login', /login of reports/),
    )
    await assert.rejects(
      push(fileOf(), targetOf({ port: 1 })),
      failsWith('unreachable', /port 1 \(ECONNREFUSED\)/),
    )
  })

  test('a missing folder is told', async () => {
    const missing = targetOf({ folder: 'no/such/folder' })
    await assert.rejects(push(fileOf(), missing), failsWith('folder', /no such folder/))
  })

  test('a file whose stored bytes are fewer than announced never gets its name', async () => {
    const short = fileOf({ bytes: content.length + 1 })
    await assert.rejects(
      push(short),
      failsWith('source', /1000000 stored bytes instead of 1000001/),
    )
    assert.ok(!hasFinal())
  })

  test('names that lead elsewhere are refused', async () => {
    for (const wrong of ['../x.csv', '/etc/passwd', 'a/b.csv', '.hidden', '']) {
      await assert.rejects(
        push(fileOf({ name: wrong })),
        failsWith('protocol', /is no name of a file/),
      )
    }
    assert.deepEqual(readdirSync(folder.path), [])
  })

  test('files of a folder are listed, read whole, and removed', async () => {
    await push()
    const context = {
      addressOf: async () => '127.0.0.1',
      stepMs: 60_000,
      signal: new AbortController().signal,
    }
    const session = await sftp.open(targetOf(), context)
    const [entry] = await session.list()
    assert.deepEqual([entry?.name, entry?.bytes], [name, content.length])
    const chunks: Uint8Array[] = []
    for await (const chunk of session.get(name)) chunks.push(chunk)
    assert.ok(Buffer.concat(chunks).equals(content))
    await session.remove(name)
    await session.remove(name)
    assert.deepEqual(await session.list(), [])
    await session.close()
  })
})
