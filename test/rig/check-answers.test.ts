/** The check before every test must fail a run that gets an answer which the document does not have. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'

const file = (path: string) => pathToFileURL(`${import.meta.dirname}/${path}`).href

/** Runs a program under the check. */
function run(program: string) {
  const choices = [
    '--conditions=@tollgate/source',
    `--import=${file('check-answers.ts')}`,
    '--input-type=module',
    '--eval',
    program,
  ]
  return spawnSync(process.execPath, choices, { encoding: 'utf8', timeout: 60_000 })
}

/** Asks a server that answers like the gateway, and swallows every failure. */
const asking = (status: number, body: object) => `
  import { createServer } from 'node:http'
  const headers = { 'content-type': 'application/json', 'x-request-id': 'abc' }
  const server = createServer((_, response) => {
    response.writeHead(${status}, headers).end(${JSON.stringify(JSON.stringify(body))})
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = 'http://127.0.0.1:' + server.address().port + '/healthz'
  await fetch(url).then((answer) => answer.json()).catch(() => {})
  server.close()`

describe('the check before every test', () => {
  const alive = {
    id: '8a82944a4cc25ebf014cc2c782423202',
    result: { code: '000.000.100', description: 'done' },
    buildNumber: '0.1.0',
    timestamp: '2026-03-14 09:26:53+0000',
    ndc: 'abc',
  }

  test('a documented answer passes', () => {
    const { status, stderr } = run(asking(200, alive))
    assert.deepEqual([status, stderr], [0, ''])
  })

  test('an undocumented status fails the run, even if nobody looks at it', () => {
    const { status, stderr } = run(asking(402, alive))
    assert.equal(status, 1)
    assert.match(stderr, /GET \/healthz was answered with 402; the document has only 200/)
  })

  test('an undocumented field fails the run, even if nobody looks at it', () => {
    const { status, stderr } = run(asking(200, { ...alive, colour: 'red' }))
    assert.equal(status, 1)
    assert.match(stderr, /colour/)
  })

  test('an undocumented notification fails the run', () => {
    const { status, stderr } = run(`
      import { createHmac } from 'node:crypto'
      import { startReceiver } from '${file('notification-receiver.ts')}'
      const receiver = await startReceiver()
      receiver.trust({ secrets: ['whsec_c2VjcmV0'] })
      const id = '8a82944a4cc25ebf014cc2c782423202'
      const at = String(Math.floor(Date.now() / 1000))
      const body = '{"type":"test","payload":{"colour":"red"}}'
      const hmac = createHmac('sha256', 'secret').update([id, at, body].join('.')).digest('base64')
      await fetch(receiver.url, { method: 'POST', body, headers: {
        'webhook-id': id, 'webhook-timestamp': at, 'webhook-sequence': '1',
        'webhook-signature': 'v1,' + hmac,
      } })
      await receiver.close()`)
    assert.equal(status, 1, stderr)
    assert.match(stderr, /the body of a notification.*colour/s)
  })
})
