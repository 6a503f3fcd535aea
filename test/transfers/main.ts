/**
 * `npm run transfers`: report files to OpenSSH's sshd and to vsftpd, and from `tollgate sftp` by OpenSSH's
 * sftp. Downloads the programs as Debian packages, and runs them on loopback as another user.
 * `npm run transfers -- vsftpd` runs only checks whose title has the word.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fileServer from '@tollgate/file-server'
import fileTransfer from '@tollgate/file-transfer'
import { clusterVariable, startTestCluster } from '../rig/cluster.ts'
import { freePort } from '../rig/free-port.ts'
import { startGateway, type TestGateway, until } from '../rig/gateway.ts'
import { type Published, publishReport } from '../rig/report-files.ts'
import { newSshKey } from '../rig/ssh-keys.ts'
import { type Programs, unpackPrograms } from './debian-packages.ts'
import { privateFile, serverUser, startSshd, startVsftpd } from './servers.ts'

const run = promisify(execFile)
const content = Buffer.alloc(20_000_000, 'SETTLED;DB;POS;MID-00001;92.00;EUR;2026-03-31\r\n')
/** A disk that is full below the size of a file. */
const smallDisk = 4_000_000

type Scene = {
  readonly programs: Programs
  readonly folder: string
  readonly gateway: TestGateway
}

const checks: { readonly title: string; check(scene: Scene): Promise<void> }[] = [
  { title: 'OpenSSH sshd receives files by SFTP, whole and under their name only', check: toSshd },
  { title: 'OpenSSH sshd with another host key receives nothing', check: toWrongHost },
  { title: 'OpenSSH sshd with a full disk keeps no file under the final name', check: toFullDisk },
  { title: 'vsftpd receives files by FTPS, whole and under their name only', check: toVsftpd },
  {
    title: 'vsftpd with a folder that is missing proves nothing about a reader',
    check: toNoFolder,
  },
  { title: 'vsftpd with an untrusted certificate receives nothing', check: toStranger },
  {
    title: "OpenSSH's sftp reads from tollgate sftp, and changes nothing there",
    check: fromServer,
  },
]

/** A destination; its file is published, and its one attempt awaited. */
async function deliver(
  { gateway: run }: Scene,
  destination: Parameters<typeof run.gateway.reportDestinations.create>[0],
  watched: string,
): Promise<{ result: string | undefined; message: string; file: Published; sizes: Set<number> }> {
  const { reportDestinations } = run.gateway
  const { id } = await reportDestinations.create({ entityId: run.merchant, ...destination })
  const sizes = new Set<number>()
  const name = `settlement-${id.slice(0, 8)}${id.slice(-4)}.csv`
  const final = join(watched, name)
  const looking = setInterval(() => {
    if (existsSync(final)) sizes.add(statSync(final).size)
  }, 1)
  const file = await publishReport(run, run.merchant, content, { name })
  const attempt = await until(async () => {
    const { deliveries } = await reportDestinations.deliveries(id)
    return deliveries.find(({ fileId }) => fileId === file.id)?.attempts[0]
  })
  clearInterval(looking)
  await reportDestinations.remove(id)
  return { result: attempt.result, message: attempt.message ?? '', file, sizes }
}

const loginKey = newSshKey('ed25519', { comment: 'tollgate' })
const sshLogin = { user: serverUser, privateKey: loginKey.private }

async function withSshd(
  scene: Scene,
  name: string,
  fileBytes: number | undefined,
  work: (server: Awaited<ReturnType<typeof startSshd>>) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(scene.folder, `${name}-`))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const server = await startSshd(scene.programs, folder, {
    port,
    publicKey: loginKey.public,
    ...(fileBytes === undefined ? {} : { fileBytes }),
  })
  try {
    await work(server)
  } finally {
    await server.stop()
  }
}

async function toSshd(scene: Scene): Promise<void> {
  await withSshd(scene, 'sshd', undefined, async ({ port, folder, fingerprint }) => {
    const folderUrl = `sftp://127.0.0.1:${port}${folder}`
    const destination = { folderUrl, login: sshLogin, hostKey: fingerprint }
    const done = await deliver(scene, destination, folder)
    assert.equal(done.result, 'stored', done.message)
    assert.ok(readFileSync(join(folder, done.file.name)).equals(content))
    assert.deepEqual([...done.sizes], [content.length])
    assert.deepEqual(readdirSync(folder), [done.file.name])
  })
}

async function toWrongHost(scene: Scene): Promise<void> {
  await withSshd(scene, 'wrong', undefined, async ({ port, folder, fingerprint }) => {
    const folderUrl = `sftp://127.0.0.1:${port}${folder}`
    const hostKey = `SHA256:${'A'.repeat(43)}`
    const done = await deliver(scene, { folderUrl, login: sshLogin, hostKey }, folder)
    assert.equal(done.result, 'wrong-server')
    assert.ok(done.message.includes(fingerprint))
    assert.deepEqual(readdirSync(folder), [])
  })
}

async function toFullDisk(scene: Scene): Promise<void> {
  await withSshd(scene, 'full', smallDisk, async ({ port, folder, fingerprint }) => {
    const folderUrl = `sftp://127.0.0.1:${port}${folder}`
    const done = await deliver(scene, { folderUrl, login: sshLogin, hostKey: fingerprint }, folder)
    assert.ok(['not-stored', 'closed'].includes(done.result ?? ''), done.message)
    assert.equal(done.sizes.size, 0)
    assert.deepEqual(readdirSync(folder), [`${done.file.name}.part`])
  })
}

async function toVsftpd(scene: Scene): Promise<void> {
  const folder = await mkdtemp(join(scene.folder, 'vsftpd-'))
  chmodSync(folder, 0o755)
  const server = await startVsftpd(scene.programs, folder, await freePort())
  try {
    const folderUrl = `ftps://localhost:${server.port}/~/incoming`
    const login = { user: 'anonymous', password: 'reports@example.com' }
    const { certificate } = server
    const done = await deliver(scene, { folderUrl, login, certificate }, server.folder)
    assert.equal(done.result, 'stored', done.message)
    assert.ok(readFileSync(join(server.folder, done.file.name)).equals(content))
    assert.deepEqual([...done.sizes], [content.length])
    assert.deepEqual(readdirSync(server.folder), [done.file.name])
  } finally {
    await server.stop()
  }
}

/** After a rename without an answer: neither the file nor its part is there. */
async function toNoFolder(scene: Scene): Promise<void> {
  const { gateway: run } = scene
  const { reportDestinations } = run.gateway
  const folder = await mkdtemp(join(scene.folder, 'missing-'))
  chmodSync(folder, 0o755)
  const server = await startVsftpd(scene.programs, folder, await freePort())
  try {
    for (const [below, result] of [
      ['incoming', 'was-taken'],
      ['incoming/away', 'folder'],
    ]) {
      const { id } = await reportDestinations.create({
        entityId: run.merchant,
        folderUrl: `ftps://localhost:${server.port}/~/${below}`,
        login: { user: 'anonymous', password: 'reports@example.com' },
        certificate: server.certificate,
      })
      const pause = (until: string) =>
        run.sql(`update tollgate.report_destination set probe_at = ${until} where id = $1::uuid`, [
          id,
        ])
      await pause(`now() + interval '1 hour'`)
      const file = await publishReport(run, run.merchant, content)
      await until(async () => {
        const asked =
          'update tollgate.report_delivery set renaming = true where file_id = $1::uuid returning id'
        return (await run.sql(asked, [file.id])).length > 0 || undefined
      })
      await pause('null')
      const attempt = await until(async () => {
        const { deliveries } = await reportDestinations.deliveries(id)
        return deliveries.find(({ fileId }) => fileId === file.id)?.attempts[0]
      })
      assert.equal(attempt.result, result, attempt.message)
      await reportDestinations.remove(id)
    }
    assert.deepEqual(readdirSync(server.folder), [])
  } finally {
    await server.stop()
  }
}

async function toStranger(scene: Scene): Promise<void> {
  const folder = await mkdtemp(join(scene.folder, 'stranger-'))
  chmodSync(folder, 0o755)
  const server = await startVsftpd(scene.programs, folder, await freePort())
  try {
    const folderUrl = `ftps://localhost:${server.port}/~/incoming`
    const done = await deliver(
      scene,
      { folderUrl, login: { user: 'anonymous', password: 'x@y' } },
      folder,
    )
    assert.equal(done.result, 'wrong-server', done.message)
    assert.match(done.message, /certificate of localhost is not trusted/)
    assert.deepEqual(readdirSync(server.folder), [])
  } finally {
    await server.stop()
  }
}

async function fromServer({ programs, folder, gateway: { gateway, merchant, ...rest } }: Scene) {
  const key = newSshKey()
  await gateway.servedFiles.createKey({ entityId: merchant, publicKey: key.public })
  const file = await publishReport({ ...rest }, merchant, content, { name: 'to-read.csv' })
  const server = await gateway.servedFiles.listen('sftp', { host: '127.0.0.1', port: 0 })
  try {
    const mine = await mkdtemp(join(folder, 'reader-'))
    const identity = await privateFile(join(mine, 'id'), key.private)
    const batch = async (...lines: string[]) => {
      const file = await privateFile(join(mine, 'batch'), `${lines.join('\n')}\n`)
      return run(
        programs.sftp,
        [
          ...['-b', file, '-i', identity, '-P', String(server.port), '-F', '/dev/null'],
          ...['-S', join(folder, 'root/usr/bin/ssh'), '-o', 'StrictHostKeyChecking=accept-new'],
          ...['-o', `UserKnownHostsFile=${join(mine, 'known')}`, '-o', 'IdentitiesOnly=yes'],
          `${merchant}@127.0.0.1`,
        ],
        { cwd: mine, env: { ...programs.env, HOME: mine }, timeout: 60_000 },
      )
    }
    const { stdout } = await batch('ls -l', `get ${file.name}`)
    assert.match(stdout, /to-read\.csv/)
    assert.ok(readFileSync(join(mine, file.name)).equals(content))
    for (const line of [
      `rm ${file.name}`,
      `put ${file.name} new.csv`,
      'mkdir x',
      'get /etc/passwd',
    ]) {
      await assert.rejects(batch(line), `sftp does not refuse "${line}"`)
    }
  } finally {
    await server.close()
  }
}

async function main(): Promise<number> {
  const chosen = checks.filter(({ title }) => title.includes(process.argv[2] ?? ''))
  const folder = await mkdtemp(join(tmpdir(), 'transfers-'))
  chmodSync(folder, 0o755)
  const cluster = await startTestCluster()
  process.env[clusterVariable] = cluster.url
  let failed = 0
  try {
    const programs = await unpackPrograms(folder)
    console.log(programs.versions)
    const gateway = await startGateway({ plugins: [fileTransfer, fileServer] })
    try {
      for (const { title, check } of chosen) {
        try {
          await check({ programs, folder, gateway })
          console.log(`✔ ${title}`)
        } catch (error) {
          failed += 1
          console.log(`✖ ${title}\n${error instanceof Error ? error.stack : String(error)}`)
          console.log((error as { stdout?: string }).stdout ?? '')
        }
      }
    } finally {
      await gateway.close()
    }
  } finally {
    await cluster.stop()
    await rm(folder, { recursive: true, force: true })
  }
  console.log(`${chosen.length - failed} of ${chosen.length} checks passed`)
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
