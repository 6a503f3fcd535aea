/** Destinations of report files and keys for reading them belong to one entity, and their secrets to the vault. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import fileTransfer from '@tollgate/file-transfer'
import { limits } from '@tollgate/schemas'
import { rightSet } from '../../../core/caller/rights.ts'
import {
  type Caller,
  newId,
  type Reply,
  type ReportDestinationsView,
  type ReportDestinationView,
  type SftpKeysView,
  type SftpKeyView,
} from '../../../core/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { madeUpRsaKey, newSshKey, openSshFile, pkcs1File, rsaLine } from '../../rig/ssh-keys.ts'
import { selfSigned } from '../net/certificate.ts'

const hostKey = `SHA256:${'k'.repeat(43)}`
const secret = 'a long and secret password'

describe('report destinations', () => {
  let run: TestGateway
  let other: string
  before(async () => {
    run = await startGateway({ plugins: [fileTransfer], role: 'api' })
    const { entities } = run.gateway
    other = await entities.create({ kind: 'merchant', name: 'Other', parentId: run.division })
  })
  after(() => run.close())

  const call = (
    operation: string,
    caller: Caller,
    { id, fields = {} }: { id?: string; fields?: Readonly<Record<string, string>> } = {},
  ): Promise<Reply> => {
    const text = new URLSearchParams(fields).toString()
    return run.gateway.call(operation, caller, {
      ...(id === undefined ? {} : { path: { id } }),
      body: Buffer.from(text),
      query: text,
      contentType: 'application/x-www-form-urlencoded',
      requestId: newId(),
    })
  }
  const owner = (): Caller => ({ id: 'm', entityId: run.merchant })
  const stranger = (): Caller => ({ id: 'o', entityId: other })
  const good = {
    folderUrl: 'sftp://127.0.0.1:2222/reports',
    'login.user': 'reports',
    'login.password': secret,
    hostKey,
  }
  const make = async (more: Readonly<Record<string, string>> = {}) => {
    const reply = await call('reportDestinations.create', owner(), { fields: { ...good, ...more } })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body as unknown as ReportDestinationView
  }
  const listOf = async (caller: Caller) => {
    const { body } = await call('reportDestinations.list', caller)
    return (body as unknown as ReportDestinationsView).destinations
  }
  const errorsOf = ({ body }: Reply) =>
    (body as { result: { parameterErrors?: { name: string; message: string }[] } }).result
      .parameterErrors ?? []

  test('are created, listed, read, changed and removed, and show no secret', async () => {
    const made = await make({ raw: 'true' })
    assert.deepEqual([made.login, made.raw], [{ user: 'reports', type: 'PASSWORD' }, 'true'])
    assert.deepEqual([made.hostKey, made.active], [hostKey, 'true'])
    assert.deepEqual(
      (await listOf(owner())).map(({ id }) => id),
      [made.id],
    )
    const changed = await call('reportDestinations.update', owner(), {
      id: made.id,
      fields: { raw: 'false', folderUrl: 'sftp://127.0.0.1:2222/other' },
    })
    assert.equal((changed.body as unknown as ReportDestinationView).raw, 'false')
    assert.equal((await call('reportDestinations.get', owner(), { id: made.id })).status, 200)
    assert.equal((await call('reportDestinations.remove', owner(), { id: made.id })).status, 200)
    assert.deepEqual(await listOf(owner()), [])
    const whole = JSON.stringify([made, changed.body, run.logs])
    assert.ok(!whole.includes(secret))
  })

  test('keep their logins sealed, and the audit trail holds every change without them', async () => {
    const { id } = await make()
    const fields = { 'login.password': 'another long password' }
    await call('reportDestinations.update', owner(), { id, fields })
    await call('reportDestinations.remove', owner(), { id })
    const rows = await run.sql<{ action: string; whole: string }>(
      'select action, row_to_json(audit)::text as whole from tollgate.audit where resource = $1 order by at, id',
      [id],
    )
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['created', 'changed', 'removed'].map((done) => `report-destination.${done}`),
    )
    const [stored] = await run.sql<{ sealed: Buffer }>(
      'select sealed from tollgate.report_destination where id = $1::uuid',
      [id],
    )
    for (const text of [stored!.sealed.toString('latin1'), ...rows.map(({ whole }) => whole)]) {
      assert.doesNotMatch(text, /long password|long and secret/)
    }
  })

  test('get at most a thousand files by one replay, which names the next one', async () => {
    await run.sql(
      `insert into tollgate.report_file (id, entity_id, no, name, sha256, raw_sha256, bytes, raw_bytes_count, rows,
         made_at)
       select gen_random_uuid(), $1, no, 'f-' || no, '', '', 0, 0, 0, now() from generate_series(1, 1003) as file (no)`,
      [run.merchant],
    )
    const { id } = await make()
    const replay = async (fromNo: string) => {
      const reply = await call('reportDestinations.replay', owner(), { id, fields: { fromNo } })
      const { replayed, nextNo } = reply.body as { replayed?: number; nextNo?: number }
      return { replayed, nextNo }
    }
    assert.deepEqual(await replay('2'), { replayed: 1000, nextNo: 1002 })
    assert.deepEqual(await replay('1002'), { replayed: 2, nextNo: undefined })
    await call('reportDestinations.remove', owner(), { id })
    await run.sql('truncate tollgate.report_file, tollgate.report_delivery')
  })

  test('are unknown to every other entity', async () => {
    const { id } = await make()
    for (const operation of ['get', 'update', 'remove', 'test', 'replay', 'deliveries']) {
      const fields: Record<string, string> = operation === 'replay' ? { fromNo: '1' } : {}
      const reply = await call(`reportDestinations.${operation}`, stranger(), { id, fields })
      const unknown = await call(`reportDestinations.${operation}`, stranger(), {
        id: newId(),
        fields,
      })
      assert.equal(reply.status, 404, operation)
      assert.deepEqual(
        (reply.body as { result: unknown }).result,
        (unknown.body as { result: unknown }).result,
      )
    }
    assert.deepEqual(await listOf(stranger()), [])
    const named = { ...good, entityId: run.merchant }
    assert.equal(
      (await call('reportDestinations.create', stranger(), { fields: named })).status,
      403,
    )
    await call('reportDestinations.remove', owner(), { id })
  })

  test('need the right configure', async () => {
    const reader: Caller = { ...owner(), rights: rightSet(['read']) }
    assert.equal((await call('reportDestinations.create', reader, { fields: good })).status, 403)
    assert.equal((await call('reportDestinations.list', reader)).status, 200)
  })

  for (const [why, fields, name, message] of [
    [
      'FTP without TLS',
      { folderUrl: 'ftp://files.example.com/in' },
      'folderUrl',
      /FTP without TLS is not used/,
    ],
    [
      'a password in the URL',
      { folderUrl: 'sftp://u:p@files.example.com/in' },
      'folderUrl',
      /user name or a password/,
    ],
    [
      'a way out of the folder',
      { folderUrl: 'sftp://files.example.com/a/%2e%2e%2fb' },
      'folderUrl',
      /"\.\."/,
    ],
    ['no host key', { hostKey: '' }, 'hostKey', /required/],
    ['a short host key', { hostKey: 'SHA256:abc' }, 'hostKey', /50 characters like SHA256/],
    ['no login', { 'login.password': '' }, 'login.password', /required/],
    [
      'a private key for FTPS',
      { folderUrl: 'ftps://files.example.com/in', 'login.password': '', 'login.privateKey': 'x' },
      'login.privateKey',
      /PEM/,
    ],
    [
      'a certificate that is none',
      { folderUrl: 'ftps://files.example.com/in', certificate: 'x' },
      'certificate',
      /PEM/,
    ],
  ] as const) {
    test(`${why} is refused by name`, async () => {
      const reply = await call('reportDestinations.create', owner(), {
        fields: { ...good, ...fields },
      })
      assert.equal(reply.status, 400)
      const [error] = errorsOf(reply)
      assert.equal(error?.name, name)
      assert.match(error?.message ?? '', message)
    })
  }

  test('on live, and wherever loopback is not allowed, addresses that are not public are refused', async () => {
    const strict = await run.another({ allowLoopbackForMerchants: false })
    for (const host of [
      '127.0.0.1',
      'localhost',
      '10.0.0.8',
      '[::1]',
      '0x7f.1',
      '169.254.169.254',
    ]) {
      const folderUrl = `sftp://${host}/reports`
      const login = { user: 'reports', password: secret }
      await assert.rejects(
        strict.reportDestinations.create({ entityId: run.merchant, folderUrl, login, hostKey }),
        (error: { parameterErrors?: { message: string }[] }) =>
          /public address/.test(error.parameterErrors?.[0]?.message ?? ''),
      )
    }
    // A name that resolves to such an address later is refused when connecting.
    const { id } = await make()
    const tried = await strict.reportDestinations.test(id)
    assert.equal(tried.error, 'refused-address')
    await strict.close()
    await call('reportDestinations.remove', owner(), { id })
  })

  test('a stored login goes to no other server than its own', async () => {
    const { id } = await make()
    for (const fields of [
      { folderUrl: 'sftp://127.0.0.1:2223/reports' },
      { folderUrl: 'sftp://files.example.com:2222/reports' },
      { hostKey: `SHA256:${'x'.repeat(43)}` },
    ]) {
      const reply = await call('reportDestinations.update', owner(), { id, fields })
      assert.equal(errorsOf(reply)[0]?.name, 'login.password')
      const again = { ...fields, 'login.password': secret }
      assert.equal(
        (await call('reportDestinations.update', owner(), { id, fields: again })).status,
        200,
      )
    }
    await call('reportDestinations.remove', owner(), { id })
  })

  test('private keys are taken in both formats, and none with a passphrase', async () => {
    const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const keys = [
      newSshKey().private,
      newSshKey('ecdsa', { bits: 521 }).private,
      newSshKey('rsa', { bits: 2048 }).private,
      String(pem.export({ type: 'pkcs8', format: 'pem' })),
    ]
    for (const privateKey of keys) {
      const { id, login } = await make({ 'login.password': '', 'login.privateKey': privateKey })
      assert.equal(login.type, 'KEY')
      await call('reportDestinations.remove', owner(), { id })
    }
    const locked = newSshKey('ed25519', {
      passphrase: 'x',
      cipher: 'aes256-cbc',
      rounds: 1,
    }).private
    const fields = { ...good, 'login.password': '', 'login.privateKey': locked }
    const reply = await call('reportDestinations.create', owner(), { fields })
    assert.match(errorsOf(reply)[0]?.message ?? '', /without a passphrase/)
  })

  test('private keys that SSH does not know are refused', async () => {
    for (const type of ['x25519', 'ed25519'] as const) {
      const { privateKey } = generateKeyPairSync(type as 'ed25519')
      const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
      const fields = { ...good, 'login.password': '', 'login.privateKey': pem }
      const reply = await call('reportDestinations.create', owner(), { fields })
      const [error] = errorsOf(reply)
      assert.equal(error?.name, 'login.privateKey')
      assert.match(error?.message ?? '', /OpenSSH format, or RSA or ECDSA in PEM/)
    }
  })

  test('a private key whose signatures take long, or that is no whole key, is refused', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const numbers = privateKey.export({ format: 'jwk' }) as Record<string, string>
    const pemOf = (changed: Readonly<Record<string, string>>) => {
      const all = { ...numbers, ...changed }
      const names = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi']
      return pkcs1File(names.map((name) => Buffer.from(all[name]!, 'base64url')))
    }
    const long = Buffer.alloc(4_096, 0x7f).toString('base64url')
    const nistp256 = [Buffer.from('nistp256'), Buffer.alloc(65, 4), Buffer.of(5)]
    const ed25519 = [Buffer.alloc(32, 1), Buffer.concat([Buffer.alloc(32, 2), Buffer.alloc(32, 1)])]
    for (const [key, message] of [
      [madeUpRsaKey(9_000).pem, /^must be an RSA key of 2048 to 8192 bits$/],
      [madeUpRsaKey(9_000).openSsh, /^must be an RSA key of 2048 to 8192 bits$/],
      [madeUpRsaKey(1_024).pem, /^must be an RSA key of 2048 to 8192 bits$/],
      [madeUpRsaKey(4_096).pem, /numbers belong together/],
      [madeUpRsaKey(4_096).openSsh, /numbers belong together/],
      // OpenSSL takes the long way with the first, and a longer one with the second.
      [pemOf({ dp: numbers.dq! }), /numbers belong together/],
      [pemOf({ d: long }), /numbers belong together/],
      [openSshFile('ssh-ed25519', ed25519), /OpenSSH format/],
      [openSshFile('ecdsa-sha2-nistp256', nistp256), /OpenSSH format/],
      [openSshFile('ssh-dss', Array(5).fill(Buffer.of(7))), /OpenSSH format/],
      [newSshKey().private.replace(/.{8}\n-----END/, '\n-----END'), /OpenSSH format/],
    ] as const) {
      const fields = { ...good, 'login.password': '', 'login.privateKey': key }
      const reply = await call('reportDestinations.create', owner(), { fields })
      const [error] = errorsOf(reply)
      assert.deepEqual([reply.status, error?.name], [400, 'login.privateKey'])
      assert.match(error?.message ?? '', message)
    }
  })

  test('private keys that are refused count as changes of a token, which has so many an hour', async () => {
    const { id } = await make()
    const busy: Caller = { ...owner(), id: 'busy' }
    const fields = { ...good, 'login.password': '', 'login.privateKey': 'x' }
    const statuses = new Set<number>()
    for (let no = 0; no < limits.setupChangesPerToken; no += 2) {
      statuses.add((await call('reportDestinations.create', busy, { fields })).status)
      const login = { 'login.privateKey': 'x' }
      statuses.add((await call('reportDestinations.update', busy, { id, fields: login })).status)
    }
    assert.deepEqual([...statuses], [400])
    assert.equal((await call('reportDestinations.create', busy, { fields })).status, 429)
    assert.equal((await call('reportDestinations.update', busy, { id, fields })).status, 429)
    await call('reportDestinations.remove', owner(), { id })
  })

  test('a text that holds more than certificates is refused without being quoted or stored', async () => {
    const { cert, key } = selfSigned('files.example.com')
    const ftps = { ...good, hostKey: '', folderUrl: 'ftps://files.example.com/in' }
    const create = (certificate: string) =>
      call('reportDestinations.create', owner(), { fields: { ...ftps, certificate } })
    for (const [text, message] of [
      [cert + key, /^has a private key: send the certificates alone$/],
      [key, /^has a private key/],
      [`${cert}subject=CN = files.example.com\n`, /PEM format, and nothing else$/],
      [`${cert}${key.replaceAll('PRIVATE KEY', 'CERTIFICATE')}`, /PEM format, and nothing else$/],
    ] as const) {
      const reply = await create(text)
      const [error] = errorsOf(reply)
      assert.deepEqual([reply.status, error?.name], [400, 'certificate'])
      assert.match(error?.message ?? '', message)
      assert.ok(!JSON.stringify([reply.body, run.logs]).includes(key.slice(60, 90)))
    }
    const reply = await create(`\n${cert}\r\n${cert}`)
    const { id, certificate } = reply.body as unknown as ReportDestinationView
    assert.equal(certificate?.match(/BEGIN CERTIFICATE/g)?.length, 2)
    const update = { certificate: cert + key, 'login.password': secret }
    const changed = await call('reportDestinations.update', owner(), { id, fields: update })
    assert.equal(errorsOf(changed)[0]?.name, 'certificate')
    await call('reportDestinations.remove', owner(), { id })
    const kept = await run.sql<{ whole: string }>(
      'select row_to_json(audit)::text as whole from tollgate.audit where resource = $1',
      [id],
    )
    assert.ok(kept.every(({ whole }) => !whole.includes('PRIVATE KEY')))
  })

  test('an entity has a number of them', async () => {
    const made: string[] = []
    for (let count = 0; count < 20; count += 1) made.push((await make()).id)
    const reply = await call('reportDestinations.create', owner(), { fields: good })
    assert.match(errorsOf(reply)[0]?.message ?? '', /has 20 report destinations already/)
    for (const id of made) await call('reportDestinations.remove', owner(), { id })
  })

  test('SFTP keys are created, listed and removed, by their entity alone', async () => {
    const publicKey = newSshKey('ed25519', { comment: 'back office' }).public
    const made = await call('sftpKeys.create', owner(), { fields: { publicKey, name: 'office' } })
    const { id, fingerprint, keyType, name } = made.body as unknown as SftpKeyView
    assert.match(fingerprint, /^SHA256:[A-Za-z0-9+/]{43}$/)
    assert.deepEqual([keyType, name], ['ssh-ed25519', 'office'])
    const twice = await call('sftpKeys.create', owner(), { fields: { publicKey } })
    assert.match(errorsOf(twice)[0]?.message ?? '', /is known for this entity/)
    const foreign = (await call('sftpKeys.list', stranger())).body as unknown as SftpKeysView
    assert.deepEqual(foreign.keys, [])
    assert.equal((await call('sftpKeys.remove', stranger(), { id })).status, 404)
    assert.equal((await call('sftpKeys.remove', owner(), { id })).status, 200)
    const left = (await call('sftpKeys.list', owner())).body as unknown as SftpKeysView
    assert.deepEqual(left.keys, [])
  })

  test('keys that are weak, private or broken are refused', async () => {
    const rsa = (bits: number) => newSshKey('rsa', { bits })
    const { public: good, private: own } = newSshKey()
    for (const [publicKey, message] of [
      [rsa(1024).public, /2048 to 8192 bits/],
      [rsaLine(65_537n, 9_000), /2048 to 8192 bits/],
      [rsaLine(2n ** 32n + 1n, 2_048), /exponent has at most 32 bits/],
      [rsaLine(2n ** 3_000n + 1n, 3_072), /exponent has at most 32 bits/],
      [own, /must be the public key/],
      [good.slice(0, 50), /whole key/],
      [good.replace('ssh-ed25519', 'ssh-rsa'), /whose type is the word before/],
      ['ssh-dss AAAAB3NzaC1kc3MAAAAA', /whole key|type/],
      ['nonsense', /one line/],
    ] as const) {
      const reply = await call('sftpKeys.create', owner(), { fields: { publicKey } })
      assert.match(errorsOf(reply)[0]?.message ?? '', message)
    }
    const fields = { publicKey: rsa(2048).public }
    assert.equal((await call('sftpKeys.create', owner(), { fields })).status, 200)
  })
})
