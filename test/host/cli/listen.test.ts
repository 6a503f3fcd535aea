/** `tollgate listen` and `tollgate events` in the hands of a merchant's developer. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createHost, type Listening } from '../../../host/index.ts'
import { until } from '../../rig/gateway.ts'
import { type Receiver, startReceiver } from '../../rig/notification-receiver.ts'
import { olderTransactionsEnd } from '../../rig/older-transactions.ts'
import { type Body, debit, type Hosted, startHost } from '../http/hosted.ts'
import { projectFolder, runTollgate, type Started, startTollgate } from './tollgate.ts'

describe('the command line: listen', () => {
  let run: Hosted
  let project: Awaited<ReturnType<typeof projectFolder>>
  /** Replaces the server that one test stops. */
  let restarted: Listening | undefined

  before(async () => {
    run = await startHost()
    project = await projectFolder()
  })
  after(async () => {
    await restarted?.close()
    await run.close()
    await project.remove()
  })

  const pay = (more: Record<string, string> = {}): Promise<Body> =>
    run.gateway
      .call(
        'payments.create',
        { id: 'test', entityId: run.channel },
        {
          body: Buffer.from(
            new URLSearchParams({ ...debit, entityId: run.channel, ...more }).toString(),
          ),
          contentType: 'application/x-www-form-urlencoded',
          requestId: 'a',
        },
      )
      .then(({ body }) => body as unknown as Body)

  const words = (...more: string[]) => [...more, '--url', run.url]
  const where = (token = run.token) => ({ folder: project.path, env: { TOLLGATE_TOKEN: token } })

  /** A file readable by its owner alone. */
  async function secretFile(name: string, text: string, mode = 0o600): Promise<string> {
    const path = join(project.path, name)
    await writeFile(path, text, { mode })
    return path
  }

  /** Starts the command and waits until it follows the feed. */
  async function listen(...more: string[]): Promise<Started> {
    const listening = startTollgate(words('listen', ...more), where())
    await listening.said(/Ready/)
    return listening
  }

  async function end(listening: Started) {
    const done = await listening.end()
    assert.equal(done.code, 0, done.err)
    assert.equal(done.err, '')
    return done.out
  }

  const told = (out: string, name: string) => new RegExp(`${name} +(\\S+)`).exec(out)?.[1] ?? ''

  const about = (id: string) => (received: Receiver['received'][number]) =>
    received.notification?.payload.id === id

  test('listen forwards each event as a signed webhook with the secret it prints', async () => {
    const shop = await startReceiver()
    const listening = await listen('--forward-to', `${shop.url}hooks`)
    shop.trust({ secrets: [told(listening.text.out, 'Signing secret')] })
    const payment = await pay()
    const { path, notification, sequence, headers } = await shop.first(about(payment.id))
    assert.equal(path, '/hooks')
    assert.equal(notification?.type, 'PAYMENT')
    assert.equal(sequence, 1)
    assert.equal(headers['content-type'], 'application/json')
    const event = await until(async () => {
      const { events } = await run.gateway.events.list({ limit: '1' })
      return events[0]
    })
    assert.equal(headers['webhook-id'], event.id)
    await listening.said(/PAYMENT {2}[0-9a-f]{32} {2}000\.100\.110 {2}-> 200 in \d+ ms/)
    assert.match(await end(listening), /1 event, 1 accepted/)
    const again = await listen('--forward-to', `${shop.url}hooks`)
    assert.equal(told(again.text.out, 'Signing secret'), told(listening.text.out, 'Signing secret'))
    await end(again)
    await shop.close()
  })

  test('listen encrypts as endpoints do, in both wrappers, and forwards only the requested types', async () => {
    const shop = await startReceiver()
    for (const [no, wrapper] of ['TEXT', 'JSON'].entries()) {
      const key = `0${no}`.repeat(32)
      const secret = `whsec_${Buffer.from(`${wrapper} secret of this test`).toString('base64')}`
      shop.trust({ secrets: [secret], key })
      const listening = await listen(
        ...['--forward-to', shop.url, '--wrapper', wrapper],
        ...['--secret-file', await secretFile(`secret ${no}`, secret)],
        ...['--key-file', await secretFile(`key ${no}`, `${key}\n`)],
        ...['--types', 'registration'],
      )
      const payment = await pay({ createRegistration: 'true' })
      const { notification, headers } = await shop.first(
        ({ no: at, notification }) => at >= no && notification?.type === 'REGISTRATION',
      )
      assert.equal(notification?.action, 'CREATED')
      assert.equal(headers['content-type'], wrapper === 'TEXT' ? 'text/plain' : 'application/json')
      assert.ok(!shop.received.some(about(payment.id)))
      await end(listening)
    }
    assert.deepEqual(
      shop.received.map(({ problem }) => problem),
      [undefined, undefined],
    )
    await shop.close()
  })

  test('listen resumes at its position when the program or the server restarts', async () => {
    const first = await startReceiver()
    const port = Number(new URL(first.url).port)
    const listening = await listen('--forward-to', first.url)
    const trust = { secrets: [told(listening.text.out, 'Signing secret')] }
    first.trust(trust)
    const before = await pay()
    await first.first(about(before.id))

    await first.close()
    const meanwhile = [await pay(), await pay()]
    await listening.said(/does not respond: ECONNREFUSED; retrying/)
    const second = await startReceiver({ port })
    second.trust(trust)
    for (const { id } of meanwhile) await second.first(about(id))

    await run.closeServer()
    await listening.said(new RegExp(`${run.url} does not respond`))
    const alone = await pay()
    const host = createHost(run.gateway, { port: Number(new URL(run.url).port) })
    const server = await host.listen()
    await second.first(about(alone.id))
    const last = await pay()
    await second.first(about(last.id))
    assert.match(await end(listening), /responds again/)
    assert.deepEqual(
      second.received.map(({ notification }) => notification?.payload.id),
      [...meanwhile, alone, last].map(({ id }) => id),
    )
    await second.close()
    restarted = server
  })

  test('listen repeats a failed event with the same id and prints its requests', async () => {
    const shop = await startReceiver()
    const listening = await listen('--forward-to', shop.url, '--print')
    shop.trust({ secrets: [told(listening.text.out, 'Signing secret')] })
    shop.behave('fail')
    const payment = await pay()
    await listening.said(/-> 500 in \d+ ms; retry in 1 s/)
    shop.behave('redirect')
    await listening.said(/-> 302 in \d+ ms; retry in 2 s/)
    shop.behave('ok')
    await listening.said(/-> 200 in/)
    const ids = shop.received.map(({ id }) => id)
    assert.equal(new Set(ids).size, 1)
    assert.equal(ids.length, 3)
    assert.match(await end(listening), new RegExp(`"id": "${payment.id}"`))
    await shop.close()
  })

  test('listen ends at once in every state', async () => {
    const shop = await startReceiver()
    const listening = await listen('--forward-to', shop.url)
    shop.behave('hang')
    await pay()
    await shop.atLeast(1)
    assert.doesNotMatch(await end(listening), /timeout/, 'before the receiver is given up')
    await shop.close()
  })

  test('listen refuses impossible arguments in a sentence', async () => {
    const refused = async (expected: RegExp, ...line: string[]) => {
      const { code, err } = await runTollgate(line, where())
      assert.equal(code, 1)
      assert.match(err, expected)
      assert.doesNotMatch(err, /^\s+at /m)
    }
    await refused(/set --url to the URL of the gateway, or start the gateway/, 'listen')
    const unknown = ['--token-file', await secretFile('unknown', 'unknown')]
    await refused(
      /refuses the request with the token of --token-file: 403 .*not valid/,
      ...words('listen', ...unknown),
    )
    await refused(/--forward-to must be a URL/, ...words('listen', '--forward-to', 'localhost'))
    for (const since of ['yesterday', '2026-02-31', '2026-03-14 24:30:00']) {
      await refused(
        / is not a valid time: write "2026-03-14"/,
        ...words('listen', '--since', since),
      )
    }
    await refused(/types/, ...words('listen', '--types', 'EVERYTHING'))
    await refused(/either the id of an event, or --since/, ...words('events', 'replay'))
  })

  test('listen takes no secret as an argument, nor from a file open to all', async () => {
    const refused = async (expected: RegExp, ...line: string[]) => {
      const { code, out, err } = await runTollgate(words(...line), where())
      assert.equal(code, 1)
      assert.match(err, expected)
      assert.doesNotMatch(out + err, /hunter2/)
    }
    for (const one of ['listen', 'events list', 'events replay']) {
      const command = one.split(' ')
      await refused(
        /--token is not accepted.*TOLLGATE_TOKEN.*--token-file/,
        ...command,
        '--token',
        'hunter2',
      )
      await refused(/--token is not accepted/, ...command, '--token=hunter2')
    }
    await refused(/--secret is not accepted.*--secret-file/, 'listen', '--secret', 'hunter2')
    await refused(/--key is not accepted.*--key-file/, 'listen', '--key=hunter2')
    const open = await secretFile('open', 'hunter2', 0o644)
    await refused(
      /other users of this machine can read .*chmod 600/,
      'listen',
      '--token-file',
      open,
    )
    await refused(/cannot be read \(ENOENT\)/, 'listen', '--token-file', `${open}.none`)
    await refused(/is empty/, 'listen', '--token-file', await secretFile('empty', '\n'))
  })

  test('events are listed, also by type', async () => {
    const payment = await pay({ createRegistration: 'true' })
    // The feed shows an event once every earlier commit is over.
    const lines = await until(async () => {
      const all = await runTollgate(words('events', 'list', '--since', '1h'), where())
      assert.equal(all.code, 0, all.err)
      const isThere = new RegExp(`${payment.id}[^]*REGISTRATION CREATED`).test(all.out)
      return isThere ? all.out.trim().split('\n') : undefined
    })
    assert.match(lines.at(-2)!, new RegExp(`PAYMENT +${payment.id} +000\\.100\\.110$`))
    assert.match(lines.at(-1)!, /REGISTRATION CREATED +[0-9a-f]{32} +000\.100\.110$/)
    for (const option of ['--types', '--type']) {
      const some = await runTollgate(words('events', 'list', option, 'schedule'), where())
      assert.match(some.out, /no events since/)
    }
  })

  test('listen uses the gateway and token that serve left in the folder', async () => {
    const here = await projectFolder()
    try {
      await mkdir(join(here.path, '.tollgate'))
      const credentials = { baseUrl: run.url, entityId: run.channel, accessToken: run.token }
      const file = join(here.path, '.tollgate/test-credentials.json')
      await writeFile(file, JSON.stringify(credentials))
      const { code, out, err } = await runTollgate(['events', 'list'], { folder: here.path })
      assert.equal(code, 0, err)
      assert.match(out, /PAYMENT +[0-9a-f]{32} +000\.100\.110/)
    } finally {
      await here.remove()
    }
  })

  test('events are replayed to endpoints, one or all since a moment', async () => {
    const shop = await startReceiver()
    const worker = await run.another({ role: 'worker' })
    try {
      const { id: endpoint, signingSecret } = await run.gateway.webhooks.create({
        url: shop.url,
        entityId: run.channel,
        wrapper: 'NONE',
        types: 'PAYMENT',
      })
      shop.trust({ secrets: [signingSecret!] })
      const payment = await pay()
      const first = await shop.first(about(payment.id))
      const one = await runTollgate(words('events', 'replay', first.id), where())
      assert.equal(one.code, 0, one.err)
      assert.equal(one.out.trim(), `${endpoint}: 1 notification will be sent again`)
      const second = await shop.first(({ no, id }) => no > first.no && id === first.id)
      await olderTransactionsEnd(run)
      const all = await runTollgate(
        words('events', 'replay', '--since', '1h', '--endpoint', endpoint),
        where(),
      )
      assert.match(all.out, /^[0-9a-f]{32}: \d+ notifications will be sent again\n$/)
      await shop.first(({ no, id }) => no > second.no && id === first.id)
    } finally {
      await worker.close()
      await shop.close()
    }
  })
})
