/** Keys of acquirers across pods: an acquirer recognises a repeat whatever pod sends it, and after every upgrade. */
import assert from 'node:assert/strict'
import { createHmac, hkdfSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { createGateway, KeyAdministration, localKeys, makeKey } from '../../../core/index.ts'
import { type AcquirerRun, approvedAs, startWithAcquirer } from '../../rig/acquirer.ts'
import { createDatabase } from '../../rig/database.ts'
import { freshSimulator, startGateway, type TestGateway, testKey } from '../../rig/gateway.ts'

const keyed = { testMode: 'EXTERNAL', merchantTransactionId: 'order-of-pods' }
const clientKey = 'order-4711'

/** The acquirer's key as every version has made it: nothing of the engine is asked. */
async function keyFromMac(run: TestGateway, entityId: string): Promise<string> {
  const [row] = await run.sql<{ wrapped: Buffer; key_encryption_key_id: string }>(
    "select wrapped, key_encryption_key_id from tollgate.data_key where purpose = 'mac' and state = 'current'",
  )
  const signal = AbortSignal.timeout(5_000)
  const bytes = await localKeys(testKey).unwrap(row!.key_encryption_key_id, row!.wrapped, signal)
  const key = hkdfSync('sha256', bytes, Buffer.alloc(0), 'tollgate acquirer key', 32)
  const text = `${entityId}\n1\n${clientKey}`
  return createHmac('sha256', Buffer.from(key)).update(text).digest('hex').slice(0, 32)
}

/** The rows of a payment, as a failover loses them. */
async function lose({ sql }: TestGateway, id: string): Promise<void> {
  for (const [table, column] of Object.entries({
    ...{ attempt: 'payment_id', payment_request: 'id', instrument: 'id' },
    ...{ payment_balance: 'payment_id', idempotency: 'payment_id', payment: 'id' },
  })) {
    await sql(`delete from tollgate.${table} where ${column} = $1`, [id])
  }
}

/** The purposes of the current keys. */
const purposes = async ({ sql }: TestGateway) =>
  (
    await sql<{ purpose: string }>(
      "select purpose from tollgate.data_key where state = 'current' order by purpose",
    )
  ).map(({ purpose }) => purpose)

/** The same merchant in another pod, as after a move: entities keep their ids. */
async function copyEntities(from: AcquirerRun, to: AcquirerRun): Promise<string> {
  const { entities } = to.gateway
  await entities.create({ kind: 'psp', name: 'A', id: from.psp })
  await entities.create({ kind: 'division', name: 'A', id: from.division, parentId: from.psp })
  await entities.create({ kind: 'merchant', name: 'A', id: from.merchant, parentId: from.division })
  await entities.create({ kind: 'channel', name: 'A', id: from.channel, parentId: from.merchant })
  await entities.createAccount({
    ...{ channelId: from.channel, connector: 'scripted', mode: 'EXTERNAL', settings: {} },
  })
  return from.channel
}

describe('keys of acquirers in an installation of pods', () => {
  test('a repeat has its key of before: in a single database, after the second pod came, and in that pod', async () => {
    const first = await startWithAcquirer()
    let second: AcquirerRun | undefined
    try {
      first.acquirer.tell('order-of-pods', { debit: approvedAs })
      const expected = await keyFromMac(first, first.channel)
      const pay = async (run: AcquirerRun, on = run.gateway) => {
        run.acquirer.tell('order-of-pods', { debit: approvedAs })
        const fields = { ...keyed, entityId: first.channel }
        const { id } = await run.pay(fields, { key: clientKey, on })
        const key = await run.keyOf(id)
        await lose(run, id)
        return key
      }
      assert.equal(await pay(first), expected, 'the key that every version has made')
      assert.deepEqual(await purposes(first), ['mac', 'seal'], 'a single database stores no more')

      const installationKey = await first.gateway.installationKey()
      assert.deepEqual(await purposes(first), ['acquirer', 'mac', 'seal'])
      assert.equal(await pay(first), expected, 'in the process that stored it')
      assert.equal(await pay(first, await first.another()), expected, 'in a later process')

      second = await startWithAcquirer({ pod: { number: 1, installationKey } })
      await copyEntities(first, second)
      assert.notEqual(await keyFromMac(second, first.channel), expected, 'its digests are its own')
      assert.equal(await pay(second), expected, 'in the other pod')
      const again = await second.another({ pod: { number: 1 } })
      assert.equal(await pay(second, again), expected, 'a later start needs no other pod')
    } finally {
      await second?.close()
      await first.close()
    }
  })

  test('the stored key outlives the key of digests', async () => {
    const run = await startWithAcquirer()
    try {
      const expected = await keyFromMac(run, run.channel)
      const { id } = await run.gateway.installationKey()
      await run.gateway.close()
      await using keys = await KeyAdministration.open({
        database: { url: run.database.url },
        keys: localKeys(testKey),
      })
      await keys.renewMac()
      const later = await run.another()
      run.acquirer.tell('order-of-pods', { debit: approvedAs })
      const paid = await run.pay(keyed, { key: clientKey, on: later })
      assert.equal(await run.keyOf(paid.id), expected)
      assert.equal((await later.installationKey()).id, id)
    } finally {
      await run.close()
    }
  })

  test('a lost key is replaced on request, and the pod takes that of the others again', async () => {
    const first = await startGateway()
    const installationKey = await first.gateway.installationKey()
    const second = await startGateway({ pod: { number: 1, installationKey } })
    try {
      await second.gateway.close()
      const foreign = localKeys(makeKey('test'))
      const open = (keys = localKeys(testKey)) =>
        KeyAdministration.open({ database: { url: second.database.url }, keys })
      {
        await using keys = await open(foreign)
        const rotation = keys.rotate({ graceMs: 0 })
        await assert.rejects(rotation, /Nothing was changed/)
      }
      // Only the installation's key is lost.
      await second.sql("update tollgate.data_key set wrapped = '\\x00' where purpose = 'acquirer'")
      const options = { pod: { number: 1, installationKey } }
      await assert.rejects(second.another(options), /is not the one this database was sealed with/)
      {
        await using keys = await open()
        await keys.rotate({ lost: true, graceMs: 0 })
      }
      assert.deepEqual(await purposes(second), ['mac', 'seal'])
      await assert.rejects(
        second.another({ pod: { number: 1 } }),
        /needs the key of its installation/,
      )
      const back = await second.another(options)
      assert.deepEqual(await purposes(second), ['acquirer', 'mac', 'seal'])
      await back.close()
    } finally {
      await second.close()
      await first.close()
    }
  })
})

describe('a database belongs to one pod of one installation', () => {
  test('another number refuses to start, and says which one is right', async () => {
    const run = await startGateway()
    try {
      const installationKey = await run.gateway.installationKey()
      await assert.rejects(
        run.another({ pod: { number: 2, installationKey } }),
        /belongs to pod 0 and cannot be used as pod 2: a database keeps its number/,
      )
      await assert.rejects(
        run.another({ pod: { number: 50 } }),
        /pod\.number must be a whole number from 0 to 49/,
      )
      await assert.rejects(run.another({ pod: {} as never }), /pod\.number is missing/)
    } finally {
      await run.close()
    }
  })

  test('a new pod needs the key of its installation, and a pod of another installation is refused', async () => {
    const one = await startGateway()
    const other = await startGateway()
    const ours = await one.gateway.installationKey()
    const theirs = await other.gateway.installationKey()
    const second = await startGateway({ pod: { number: 1, installationKey: ours } })
    const empty = await createDatabase()
    try {
      const start = createGateway({
        ...{ database: { url: empty.url }, plugins: [freshSimulator()], environment: 'test' },
        ...{ keys: localKeys(testKey), pod: { number: 1 } },
      })
      await assert.rejects(start, /Pod 1 is new, and needs the key of its installation/)
      await assert.rejects(
        second.another({ pod: { number: 1, installationKey: theirs } }),
        /database of pod 1 belongs to another installation/,
      )
      const asFirst = one.another({ pod: { number: 0, installationKey: theirs } })
      await assert.rejects(asFirst, /database of pod 0 belongs to another installation/)
    } finally {
      await second.close()
      await other.close()
      await one.close()
      await empty.drop()
    }
  })
})
