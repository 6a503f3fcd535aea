/** An FTPS server cannot stop, fill or lead astray the process that takes a file to it. */
import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { ftps } from '@tollgate/file-transfer'
import {
  type OutgoingFile,
  type Put,
  Sensitive,
  type TransferContext,
  TransferError,
  type TransferErrorCode,
  type TransferSession,
} from '@tollgate/plugin-kit'
import { type FtpsFolder, startFtpsFolder } from '../../rig/ftps-folder.ts'
import { workedMs } from '../../rig/worked.ts'

const name = 'settlement-0007.csv'
const content = Buffer.alloc(100_000, 'ReconciliationType;PaymentType\r\n')

describe('FTPS, with a server that knows no SIZE', () => {
  let folder: FtpsFolder
  beforeEach(async () => {
    folder = await startFtpsFolder({ hasSize: false })
  })
  afterEach(() => folder.close())

  const fileOf = (more: Partial<OutgoingFile> = {}): OutgoingFile => ({
    name,
    bytes: content.length,
    async *open() {
      yield content
    },
    isRenaming: false,
    async renaming() {},
    ...more,
  })

  async function using<T>(
    work: (session: TransferSession) => Promise<T>,
    more: Partial<TransferContext> = {},
  ): Promise<T> {
    const session = await ftps.open(
      {
        ...{ host: '127.0.0.1', port: folder.port, user: 'me', folder: '.' },
        ...{ password: new Sensitive('a long password'), ca: folder.certificate },
      },
      {
        addressOf: async () => '127.0.0.1',
        stepMs: 60_000,
        signal: new AbortController().signal,
        ...more,
      },
    )
    try {
      return await work(session)
    } finally {
      await session.close()
    }
  }
  const push = (file = fileOf(), more: Partial<TransferContext> = {}): Promise<Put> =>
    using((session) => session.put(file), more)
  const failsWith = (code: TransferErrorCode, text: RegExp) => (error: unknown) => {
    assert.ok(TransferError.is(error), String(error))
    assert.equal(error.code, code, error.message)
    assert.match(error.message, text)
    return true
  }
  const lists = () => folder.log.filter((line) => line.startsWith('LIST')).length
  const many = function* (count: number) {
    for (let no = 0; no < count; no += 1) yield `-rw-r--r-- 1 me us 1 Jan 1 10:00 old-${no}.csv`
  }

  test('a file gets there, is recognised there, and its reader may take it away', async () => {
    assert.equal(await push(), 'stored')
    assert.ok(folder.files.get(name)?.equals(content))
    assert.equal(await push(), 'was-there')
    folder.files.set(name, Buffer.from('of somebody else'))
    await assert.rejects(push(), failsWith('name-taken', /of 16 instead/))
    folder.files.clear()
    assert.equal(await push(fileOf({ isRenaming: true })), 'was-taken')
  })

  test('a long list is searched for the name of the file', async () => {
    folder.linesBefore = () => many(50_000)
    assert.equal(await push(), 'stored')
    assert.equal(await push(), 'was-there')
  })

  test('a list without an end is left early, requested once, and stops nothing else', async () => {
    folder.linesBefore = () => many(Number.MAX_SAFE_INTEGER)
    let [last, longest] = [workedMs(), 0]
    const watching = setInterval(() => {
      const now = workedMs()
      longest = Math.max(longest, now - last)
      last = now
    }, 5)
    await assert.rejects(push(), failsWith('folder', /more than 100000 entries/))
    clearInterval(watching)
    assert.ok(longest < 1_000, `${longest} ms of work in one go`)
    assert.equal(lists(), 1)
    await assert.rejects(
      using((session) => session.list()),
      failsWith('folder', /more than 100000 entries/),
    )
  })

  test('a line without an end is left early', async () => {
    folder.line = () => 'x'.repeat(10_000_000)
    folder.files.set('x', content)
    await assert.rejects(push(), failsWith('protocol', /unknown form/))
    assert.equal(lists(), 1)
  })

  test('a list in an unknown form proves nothing about a reader', async () => {
    folder.line = (shown, bytes) => `${shown} has ${bytes} bytes`
    folder.files.set(name, content)
    const waits = fileOf({ isRenaming: true })
    await assert.rejects(push(waits), failsWith('protocol', /unknown form/))
  })

  test('a data connection goes to no port that is closed to the server', async () => {
    let isReached = false
    const own = createServer((socket) => {
      isReached = true
      socket.destroy()
    })
    await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
    const { port } = own.address() as AddressInfo
    folder.dataPort = port
    const addressOf = async (host: string, asked: number) => {
      if (asked !== port) return host
      throw new TransferError('refused-address', `${host} does not lead to a public address`)
    }
    try {
      await assert.rejects(push(fileOf(), { addressOf }), failsWith('refused-address', /127\.0/))
      assert.equal(isReached, false)
    } finally {
      own.close()
    }
    for (const wrong of [0, 65_536]) {
      folder.dataPort = wrong
      await assert.rejects(push(), failsWith('protocol', /names no port/))
    }
  })

  test('a server that offers Diffie-Hellman with numbers of its choice alone is left', async () => {
    await folder.close()
    const ciphers = 'DHE-RSA-AES128-GCM-SHA256'
    folder = await startFtpsFolder({}, { ciphers, maxVersion: 'TLSv1.2', dhparam: 'auto' })
    const refused = failsWith('protocol', /127\.0\.0\.1 offers no secure encryption: TLS 1\.3/)
    await assert.rejects(push(), refused)
    assert.ok(!folder.log.some((line) => /^USER|^PASS/.test(line)))
  })

  test('the files of a folder are listed with their sizes, and without its folders', async () => {
    folder.files.set(name, content)
    folder.linesBefore = () => ['total 2', 'drwxr-xr-x 1 me us 1 Jan 1 10:00 inner']
    const found = await using((session) => session.list())
    assert.deepEqual(found, [{ name, bytes: content.length }])
  })
})
