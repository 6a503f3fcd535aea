/** Report files reach the folders of their merchant once, whatever fails in between. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { sftp } from '@tollgate/file-transfer'
import { contractVersion, definePlugin } from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/fault-point.ts'
import type { ReportDeliveryView } from '../../../core/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Published, publishReport } from '../../rig/report-files.ts'
import { type SftpFolder, startSftpFolder } from '../../rig/sftp-folder.ts'
import { newSshKey } from '../../rig/ssh-keys.ts'

/** Only a test of a server that hangs has a time limit that it can wait for. */
let stepMs = 60_000

/** The real protocol, with that time limit. */
const impatient = definePlugin({
  name: 'file-transfer',
  contract: contractVersion,
  transfers: [{ ...sftp, open: (target, context) => sftp.open(target, { ...context, stepMs }) }],
})
const content = Buffer.from(`ReconciliationType;PaymentType\r\n${'SETTLED;DB\r\n'.repeat(9_000)}`)

describe('report files', () => {
  let run: TestGateway
  let folder: SftpFolder
  let destination: string
  before(async () => {
    run = await startGateway({ plugins: [impatient], shutdownGraceMs: 100 })
  })
  after(() => run.close())
  beforeEach(async () => {
    folder = await startSftpFolder()
    destination = await make()
  })
  afterEach(async () => {
    onFaultPoint(undefined)
    stepMs = 60_000
    await run.gateway.reportDestinations.remove(destination)
    await folder.close()
  })

  async function make(
    more: Readonly<Record<string, string>> = {},
    login: Readonly<Record<'user', string> & Record<string, string>> = {
      user: folder.user,
      password: folder.password,
    },
  ): Promise<string> {
    const { id } = await run.gateway.reportDestinations.create({
      entityId: run.merchant,
      folderUrl: `sftp://127.0.0.1:${folder.port}`,
      login,
      hostKey: folder.hostKey,
      ...more,
    })
    return id
  }

  const publish = (more: Parameters<typeof publishReport>[3] = {}) =>
    publishReport(run, run.merchant, content, more)
  const deliveryOf = async ({ id }: Published, to = destination) => {
    const { deliveries } = await run.gateway.reportDestinations.deliveries(to)
    return deliveries.find(({ fileId }) => fileId === id)
  }
  const ended = (file: Published, to = destination) =>
    until(async () => {
      const found = await deliveryOf(file, to)
      return found?.state === 'PENDING' ? undefined : found
    })
  /** The delivery after this number of attempts. */
  const tried = (file: Published, count = 1) =>
    until(async () => {
      const found = await deliveryOf(file)
      return (found?.attempts.length ?? 0) >= count ? found : undefined
    })
  /** Ends the pause of the destination and of its files. */
  const goOn = async (to = destination) => {
    await run.sql('update tollgate.report_destination set probe_at = null where id = $1::uuid', [
      to,
    ])
    await run.sql(
      `update tollgate.report_delivery set due_at = now() where destination_id = $1::uuid and state = 'pending'`,
      [to],
    )
  }
  const resultsOf = (delivery: ReportDeliveryView | undefined) =>
    delivery?.attempts.map(({ result }) => result)
  /** A process of an earlier test may still be at the end of its delivery. */
  const isOfThisTest = async (delivery: string) => {
    const rows = await run.sql(
      'select from tollgate.report_delivery where id = $1::uuid and destination_id = $2::uuid',
      [delivery, destination],
    )
    return rows.length > 0
  }
  const stored = ({ name }: Published) => readFileSync(join(folder.path, name))

  test('a published file is delivered whole, and the log tells of it', async () => {
    const file = await publish()
    const delivery = await ended(file)
    assert.deepEqual([delivery?.state, resultsOf(delivery)], ['DELIVERED', ['stored']])
    assert.deepEqual([delivery?.name, delivery?.bytes], [file.name, content.length])
    assert.ok(stored(file).equals(content))
  })

  test('a destination gets the form that it asked for', async () => {
    const plain = await startSftpFolder()
    const second = await make({
      folderUrl: `sftp://127.0.0.1:${plain.port}`,
      hostKey: plain.hostKey,
      raw: 'true',
    })
    const raw = Buffer.from('a;=SUM(A1)\r\n')
    const file = await publishReport(run, run.merchant, content, { raw })
    assert.equal((await ended(file))?.state, 'DELIVERED')
    const delivery = await ended(file, second)
    assert.deepEqual([delivery?.state, delivery?.bytes], ['DELIVERED', raw.length])
    assert.ok(stored(file).equals(content))
    assert.ok(readFileSync(join(plain.path, file.name)).equals(raw))
    await run.gateway.reportDestinations.remove(second)
    await plain.close()
  })

  test('a file goes to the destinations of its own entity alone', async () => {
    const other = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    for (const entityId of [other, run.division, run.psp]) {
      await publishReport(run, entityId, content)
    }
    const own = await publish()
    await ended(own)
    assert.deepEqual(readdirSync(folder.path), [own.name])
    const rows = await run.sql(
      'select from tollgate.report_delivery where destination_id = $1::uuid',
      [destination],
    )
    assert.equal(rows.length, 1)
  })

  test('an answer that was lost after the rename doubles nothing', async () => {
    folder.fail('renamed', 'cut')
    const file = await publish()
    const first = await tried(file)
    assert.deepEqual(resultsOf(first), ['closed'])
    assert.match(first?.attempts[0]?.message ?? '', /ended/)
    folder.heal()
    await goOn()
    assert.deepEqual(resultsOf(await ended(file)), ['closed', 'was-there'])
    assert.equal(folder.log.filter((line) => line.startsWith('open')).length, 1)
  })

  test('a file that the reader took away after a lost answer is not sent again, also after other failures', async () => {
    folder.fail('renamed', 'cut')
    const file = await publish()
    await tried(file)
    renameSync(join(folder.path, file.name), join(folder.path, 'taken'))
    folder.fail('stat', 'failure')
    await goOn()
    await tried(file, 2)
    folder.heal()
    await goOn()
    const delivery = await ended(file)
    assert.equal(resultsOf(delivery)?.at(-1), 'was-taken')
    assert.deepEqual(readdirSync(folder.path), ['taken'])
  })

  test('a file whose rename was not answered goes to the new place of its destination', async () => {
    const next = await startSftpFolder()
    folder.fail('rename', 'cut')
    const file = await publish()
    await tried(file)
    await run.gateway.reportDestinations.update(destination, {
      folderUrl: `sftp://127.0.0.1:${next.port}`,
      hostKey: next.hostKey,
      login: { user: next.user, password: next.password },
    })
    const delivery = await ended(file)
    assert.deepEqual([delivery?.state, resultsOf(delivery)], ['DELIVERED', ['closed', 'stored']])
    assert.deepEqual(readdirSync(next.path), [file.name])
    await next.close()
  })

  test('a process that is about to rename a file at the old place of a destination gives up', async () => {
    const next = await startSftpFolder()
    const arrived = new Promise<void>((resolve) => {
      folder.watch(() => {
        folder.watch(() => {})
        resolve()
      })
    })
    folder.fail('close', 'wait')
    const file = await publish()
    await arrived
    await run.gateway.reportDestinations.update(destination, {
      folderUrl: `sftp://127.0.0.1:${next.port}`,
      hostKey: next.hostKey,
      login: { user: next.user, password: next.password },
    })
    folder.heal()
    const delivery = await ended(file)
    assert.deepEqual([delivery?.state, resultsOf(delivery)], ['DELIVERED', ['stored']])
    assert.deepEqual(readdirSync(next.path), [file.name])
    assert.deepEqual(readdirSync(folder.path), [`${file.name}.part`])
    await next.close()
  })

  test('private keys log in, whichever format they were given in', async () => {
    const [rsa, ec] = [
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
      generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
    ]
    const pem = (key: KeyObject) => String(key.export({ type: 'pkcs8', format: 'pem' }))
    for (const privateKey of [newSshKey('ed25519').private, pem(rsa), pem(ec)]) {
      const id = await make({}, { user: folder.user, privateKey })
      const tested = await run.gateway.reportDestinations.test(id)
      assert.deepEqual([tested.delivered, tested.message], [true, undefined])
      await run.gateway.reportDestinations.remove(id)
    }
  })

  test('a server that closes in the middle gets the file at the next try, and no part of it before', async () => {
    folder.fail('write', 'cut', 2)
    const file = await publish()
    const first = await tried(file)
    assert.equal(first?.state, 'PENDING')
    assert.ok(first?.nextAttemptAt !== undefined)
    assert.deepEqual(readdirSync(folder.path), [`${file.name}.part`])
    folder.heal()
    await goOn()
    assert.deepEqual(resultsOf(await ended(file)), ['closed', 'stored'])
    assert.ok(stored(file).equals(content))
  })

  test('a server that hangs is left, and its failures are counted', async () => {
    folder.fail('open', 'hang')
    stepMs = 1_000
    const file = await publish()
    assert.match((await tried(file))?.attempts[0]?.message ?? '', /took longer than 1 s/)
    stepMs = 60_000
    const { failures, failingSince } = await run.gateway.reportDestinations.get(destination)
    assert.equal(failures, 1)
    assert.ok(failingSince !== undefined)
    folder.heal()
    await goOn()
    await ended(file)
    assert.equal((await run.gateway.reportDestinations.get(destination)).failures, undefined)
  })

  test('a wrong host key is told with the key that came, and a corrected one delivers', async () => {
    const wrong = `SHA256:${'A'.repeat(43)}`
    const login = { password: folder.password }
    await run.gateway.reportDestinations.update(destination, { hostKey: wrong, login })
    const file = await publish()
    const first = await tried(file)
    assert.deepEqual(resultsOf(first), ['wrong-server'])
    assert.ok(first?.attempts[0]?.message?.includes(folder.hostKey))
    const hostKey = folder.hostKey
    await run.gateway.reportDestinations.update(destination, { hostKey, login })
    assert.deepEqual(resultsOf(await ended(file)), ['wrong-server', 'stored'])
  })

  test('a file whose name is taken waits, and the others do not wait for it', async () => {
    const name = 'taken.csv'
    writeFileSync(join(folder.path, name), 'of somebody else')
    const first = await publish({ name })
    const second = await publish()
    assert.equal((await ended(second))?.state, 'DELIVERED')
    const waiting = await tried(first)
    assert.deepEqual([waiting?.state, resultsOf(waiting)], ['PENDING', ['name-taken']])
    assert.equal(readFileSync(join(folder.path, name), 'utf8'), 'of somebody else')
  })

  test('a process that stops before the rename leaves the file to another, and both deliver it once', async () => {
    let release = () => {}
    const stopped = new Promise<void>((resolve) => {
      onFaultPoint(async (point, delivery) => {
        if (point !== 'report-renaming' || !(await isOfThisTest(delivery))) return
        onFaultPoint(undefined)
        resolve()
        await new Promise<void>((next) => {
          release = next
        })
      })
    })
    const file = await publish()
    await stopped
    const second = await run.another()
    // As after the time in which a process that stands still keeps its job and its lease.
    await run.sql(
      `update tollgate.report_destination set lease_until = now() - interval '1 second' where id = $1::uuid`,
      [destination],
    )
    await run.sql(`delete from tollgate_boss.job where name = 'report-delivery'`)
    const delivery = await ended(file)
    assert.equal(delivery?.state, 'DELIVERED')
    release()
    await second.close()
    assert.deepEqual(readdirSync(folder.path), [file.name])
    assert.ok(stored(file).equals(content))
    assert.equal((await deliveryOf(file))?.attempts.length, 1)
    assert.equal(folder.log.filter((line) => line.startsWith('open')).length, 1)
  })

  for (const [point, last] of [
    ['report-renaming', 'stored'],
    ['report-delivered', 'was-there'],
  ] as const) {
    test(`a process that dies at ${point} leaves the file to the next, which delivers it once`, async () => {
      let bury = () => {}
      const died = new Promise<void>((resolve) => {
        onFaultPoint(async (reached, delivery) => {
          if (reached !== point || !(await isOfThisTest(delivery))) return
          onFaultPoint(undefined)
          resolve()
          // A dead process writes nothing more. It may be this one, whose place the next test needs.
          await new Promise<void>((_, reject) => {
            bury = () => reject(new Error('dead'))
          })
        })
      })
      const dying = await run.another()
      const file = await publish()
      await died
      await run.sql(
        `update tollgate.report_destination set lease_until = now() - interval '1 second' where id = $1::uuid`,
        [destination],
      )
      await run.sql(`delete from tollgate_boss.job where name = 'report-delivery'`)
      const delivery = await ended(file)
      assert.deepEqual([delivery?.state, resultsOf(delivery)], ['DELIVERED', [last]])
      assert.deepEqual(readdirSync(folder.path), [file.name])
      assert.equal(folder.log.filter((line) => line.startsWith('open')).length, 1)
      bury()
      await dying.close()
    })
  }

  test('several processes deliver many files once each, in their order', async () => {
    const second = await run.another()
    const files: Published[] = []
    for (let count = 0; count < 12; count += 1) files.push(await publish())
    for (const file of files) await ended(file)
    const renamed = folder.log
      .filter((line) => line.startsWith('rename'))
      .map((line) => line.split(' ')[2])
    assert.deepEqual(
      renamed,
      files.map(({ name }) => name),
    )
    await second.close()
  })

  test('a replay delivers a file again after the reader took it away', async () => {
    const file = await publish()
    await ended(file)
    renameSync(join(folder.path, file.name), join(folder.path, 'taken'))
    const { replayed } = await run.gateway.reportDestinations.replay(destination, {
      fileId: file.id,
    })
    assert.equal(replayed, 1)
    await until(async () => readdirSync(folder.path).includes(file.name) || undefined)
    const { deliveries } = await run.gateway.reportDestinations.deliveries(destination)
    assert.deepEqual(deliveries.map(({ replay }) => replay).sort(), [false, true])
  })

  test('a file is given up after a month, and a replay of dead ones delivers it after all', async () => {
    folder.fail('login', 'cut')
    const file = await publish()
    folder.fail('open', 'cut')
    await tried(file)
    await run.sql(
      `update tollgate.report_delivery set created_at = now() - interval '31 days' where destination_id = $1::uuid`,
      [destination],
    )
    folder.heal()
    await goOn()
    const delivery = await ended(file)
    assert.deepEqual([delivery?.state, delivery?.reason], ['DEAD', 'not taken in time'])
    const again = { fromNo: '1', which: 'DEAD' } as const
    assert.equal((await run.gateway.reportDestinations.replay(destination, again)).replayed, 1)
    await until(async () => readdirSync(folder.path).includes(file.name) || undefined)
  })

  test('a removed destination gives its waiting files up, and one that is off keeps them', async () => {
    const { update, remove } = run.gateway.reportDestinations
    folder.fail('open', 'cut')
    const file = await publish()
    await tried(file)
    await update(destination, { active: 'false' })
    folder.heal()
    assert.equal((await deliveryOf(file))?.state, 'PENDING')
    await update(destination, { active: 'true' })
    assert.equal((await ended(file))?.state, 'DELIVERED')
    const other = await make()
    folder.fail('open', 'cut')
    const last = await publish()
    await until(async () => {
      const found = await deliveryOf(last, other)
      return (found?.attempts.length ?? 0) > 0 ? found : undefined
    })
    await remove(other)
    const dead = await ended(last, other)
    assert.deepEqual([dead?.state, dead?.reason], ['DEAD', 'the destination was removed'])
  })

  test('the test button stores a file and removes it, and says what fails', async () => {
    const { test: button } = run.gateway.reportDestinations
    assert.equal((await button(destination)).delivered, true)
    assert.deepEqual(readdirSync(folder.path), [])
    assert.ok(folder.log.some((line) => line.startsWith('remove tollgate-test-')))
    folder.fail('open', 'failure')
    const failed = await button(destination)
    assert.equal(failed.delivered, false)
    assert.equal(failed.error, 'not-stored')
    assert.match(failed.message ?? '', /its disk may be full/)
  })
})
