import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway, testKey, until } from '../../rig/gateway.ts'
import { startReceiver } from '../../rig/notification-receiver.ts'
import { projectFolder, runTollgate } from './tollgate.ts'

test('webhook endpoints are created, tested, listed and removed on the command line', async () => {
  const run = await startGateway({ role: 'api' })
  const receiver = await startReceiver()
  const project = await projectFolder()
  const tollgate = (...words: string[]) =>
    runTollgate(['webhook', ...words], {
      folder: project.path,
      env: { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey },
    })
  try {
    const made = await tollgate('create', '--entity', run.merchant, '--url', receiver.url)
    const id = /id +([0-9a-f]{32})/.exec(made.out)?.[1] ?? ''
    assert.match(made.out, /encryptionKey +[0-9a-f]{64}\nsigningSecret +whsec_/)
    assert.match((await tollgate('test', id)).out, /^accepted: 200 after \d+ ms/)
    receiver.behave('fail')
    const refused = await tollgate('test', id)
    assert.equal(refused.code, 1)
    assert.match(refused.out, /^not accepted: 500/)
    const rotated = await tollgate('rotate', id)
    assert.match(rotated.out, /^signingSecret +whsec_\S+\nold one valid until +20/)
    const rekeyed = await tollgate('rotate', id, '--encryption')
    assert.match(rekeyed.out, /^encryptionKey +[0-9a-f]{64}\nold one valid until +20/)
    const listed = await tollgate('list')
    assert.match(
      listed.out,
      new RegExp(`${id} +http://127\\.0\\.0\\.1:\\d+/ +PAYMENT,REGISTRATION +on`),
    )
    assert.match((await tollgate('remove', id)).out, /^removed /)
    assert.match((await tollgate('list')).out, /^no endpoints/)
    assert.match((await tollgate('list', '--removed')).out, new RegExp(`${id} .* removed 20`))
  } finally {
    await run.close()
    await receiver.close()
    await project.remove()
  }
})

test('the notifications of an endpoint and its answers are listed on the command line', async () => {
  const run = await startGateway()
  const receiver = await startReceiver()
  const project = await projectFolder()
  const { id } = await run.gateway.webhooks.create({ entityId: run.merchant, url: receiver.url })
  const deliveries = async (...words: string[]) => {
    const env = { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey }
    const place = { folder: project.path, env }
    const { code, out, err } = await runTollgate(['webhook', 'deliveries', id, ...words], place)
    return code === 0 ? out : err
  }
  try {
    assert.match(await deliveries(), /^no notifications/)
    receiver.behave('fail')
    const payment = await run.pay()
    const failed = await until(async () => {
      const listed = await deliveries()
      return /1 try +500/.test(listed) ? listed : undefined
    })
    assert.match(failed, new RegExp(`^20\\S+ \\S+ +[0-9a-f]{32} +PAYMENT +${payment.id} +pending`))
    assert.equal((await deliveries('--state', 'Pending')).split('\n').length, 2)
    assert.match(await deliveries('--state', 'delivered'), /^no notifications/)
    assert.match(await deliveries('--state', 'lost'), /--state must be one of/)
  } finally {
    await run.close()
    await receiver.close()
    await project.remove()
  }
})
