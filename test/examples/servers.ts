/** The HTTP API in servers of other kinds, and in one bundled file: every program of the guide runs. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { createGateway, localKeys, makeKey } from '../../core/index.ts'
import { createDatabase, type TestDatabase } from '../rig/database.ts'
import { packedProject } from '../rig/packed.ts'
import { root } from '../rig/sources.ts'
import { fenced } from './fenced.ts'

const guide = 'docs/embedding.md'
const keys = makeKey('main')
const card = { number: '4200000000000000', expiryMonth: '05', expiryYear: '2034', cvv: '123' }
let packed: string
let database: TestDatabase
let entityId: string
let token: string

before(async () => {
  packed = await packedProject(['examples/servers'])
  database = await createDatabase()
  await using gateway = await createGateway({
    database: { url: database.url },
    environment: 'test',
    keys: localKeys(keys),
    plugins: [],
  })
  const { entities } = gateway
  const psp = await entities.create({ kind: 'psp', name: 'Shop' })
  const division = await entities.create({ kind: 'division', name: 'Shop', parentId: psp })
  const merchant = await entities.create({ kind: 'merchant', name: 'Shop', parentId: division })
  entityId = await entities.create({ kind: 'channel', name: 'Web', parentId: merchant })
  token = (await entities.createToken(entityId, 'test')).token
})
after(() => database.drop())

type Server = { readonly url: string; end(): Promise<void> }

async function started(folder: string, file: string): Promise<Server> {
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: {
      ...process.env,
      ...{ DATABASE_URL: database.url, TOLLGATE_KEYS: keys, ENTITY_ID: entityId, PORT: '0' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (line: Buffer) => resolve(line.toString().trim()))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
  return {
    url,
    async end() {
      child.kill('SIGTERM')
      assert.deepEqual(await exited, [0, null], `${file} ends cleanly`)
    },
  }
}

const form = { amount: '92.00', currency: 'EUR', paymentType: 'DB', paymentBrand: 'VISA' }
const cardForm = Object.fromEntries(
  Object.entries(card).map(([name, value]) => [`card.${name}`, value]),
)

type Ordered = { readonly code: string; readonly parameterErrors?: readonly { name: string }[] }

/** What every server must do, whoever wrote it. */
async function serves(server: Server): Promise<void> {
  const pay = (more: Readonly<Record<string, string>> = {}, path = '/v1/payments') =>
    fetch(`${server.url}/pay${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: new URLSearchParams({ ...form, ...cardForm, ...more }),
    })
  const read = (at: string) =>
    fetch(`${server.url}/pay${at}`, { headers: { authorization: `Bearer ${token}` } })
  const codeOf = async (answer: Response) =>
    ((await answer.json()) as { result: { code: string } }).result.code

  const order = async (amount: string) => {
    const answer = await fetch(`${server.url}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amount, card }),
    })
    const { code, parameterErrors } = (await answer.json()) as Ordered
    return [answer.status, code, parameterErrors?.[0]?.name]
  }
  assert.deepEqual(await order('25.00'), [200, '000.100.110', undefined], 'the own route works')
  assert.deepEqual(await order('25,00'), [400, '200.300.404', 'amount'])

  const paid = await pay()
  assert.equal(paid.status, 200)
  assert.equal(paid.headers.get('x-frame-options'), 'DENY')
  assert.match(paid.headers.get('x-request-id') ?? '', /^[0-9a-f]{32}$/)
  assert.equal(await codeOf(paid), '000.100.110')
  assert.equal((await pay({ currency: 'EUD' })).status, 400)
  const large = await pay({ 'card.holder': 'x'.repeat(8 * 1024 * 1024) })
  assert.equal(large.status, 400)
  assert.equal(await codeOf(large), '200.300.404')
  assert.equal((await read('/v1/none')).status, 404)
  const head = await fetch(`${server.url}/pay/openapi.json`, { method: 'HEAD' })
  assert.equal(head.status, 200)
  const openApi = (await (await read('/openapi.json')).json()) as { openapi: string }
  assert.equal(openApi.openapi, '3.1.1', 'a large answer arrives whole')
  assert.match(await (await read('/reference')).text(), /<\/html>\s*$/)

  await leavesAfterItsRequest(server.url, `left-${path.basename(server.url)}`)
  await waitsForItsEnd(server, pay, read)
}

/** The payment of a client that leaves is carried out. */
async function leavesAfterItsRequest(url: string, reference: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const body = new URLSearchParams({
    ...form,
    ...cardForm,
    merchantTransactionId: reference,
    'customParameters[SIM_DELAY_MS]': '300',
  }).toString()
  const socket = connect(Number(port), hostname)
  socket.write(
    [
      'POST /pay/v1/payments HTTP/1.1',
      `Host: ${hostname}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  )
  const found = async () => {
    const query = new URLSearchParams({ entityId, merchantTransactionId: reference })
    const answer = await fetch(`${url}/pay/v1/query?${query}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { payments = [] } = (await answer.json()) as { payments?: { result: { code: string } }[] }
    return payments[0]?.result.code
  }
  while ((await found()) === undefined);
  socket.destroy()
  let code = await found()
  while (code?.startsWith('000.200')) code = await found()
  assert.equal(code, '000.100.110')
}

/** A signal ends waits at once, and answers the payment that is running. */
async function waitsForItsEnd(
  server: Server,
  pay: (more: Readonly<Record<string, string>>) => Promise<Response>,
  read: (at: string) => Promise<Response>,
): Promise<void> {
  const start = (await (await read('/v1/events?since=NOW')).json()) as { nextCursor: string }
  const waiting = read(`/v1/events?cursor=${start.nextCursor}&wait=30`)
  const running = pay({ 'customParameters[SIM_DELAY_MS]': '300' })
  // An answer to a later request: the two above have arrived.
  await read('/v1/events?limit=1')
  const ended = server.end()
  const [event, payment] = await Promise.all([waiting, running])
  assert.deepEqual([event.status, payment.status], [200, 200])
  await ended
}

for (const program of ['express.mjs', 'fastify.mjs', 'hono.mjs', 'own-router.mjs']) {
  test(`the surface in ${program} pays, refuses, streams, outlives its clients and ends well`, async () => {
    await serves(await started(packed, program))
  })
}

test('esbuild makes one file of an embedding program, which needs nothing else', async () => {
  const empty = mkdtempSync(path.join(tmpdir(), 'tollgate-bundle-'))
  try {
    const [command = ''] = fenced(guide, 'sh').filter((text) => text.includes('npx esbuild'))
    const [bundling = ''] = command.split('\nnode ')
    const words = [...bundling.replaceAll('\\\n', ' ').matchAll(/"([^"]*)"|(\S+)/g)]
    const [npx, esbuild, entry, ...options] = words.map(([, quoted, plain]) => quoted ?? plain!)
    assert.deepEqual([npx, esbuild, entry], ['npx', 'esbuild', 'shop.mjs'])
    const out = path.join(empty, 'hono.mjs')
    const chosen = options.map((one) => (one.startsWith('--outfile=') ? `--outfile=${out}` : one))
    const { stderr } = await promisify(execFile)(
      path.join(root, 'node_modules/.bin/esbuild'),
      [path.join(packed, 'hono.mjs'), ...chosen, '--log-level=warning'],
      { cwd: packed },
    )
    assert.equal(stderr, '', 'nothing to warn of')
    assert.deepEqual(readdirSync(empty), ['hono.mjs'])
    const server = await started(empty, 'hono.mjs')
    const page = await fetch(`${server.url}/pay/v1/checkouts/none/page`, {
      headers: { 'accept-language': 'de' },
    })
    assert.match(await page.text(), /lang="de"/, 'the texts are in the file')
    const script = await fetch(`${server.url}/pay/v1/paymentWidgets.js?checkoutId=none`)
    assert.ok(script.status < 500)
    await serves(server)
  } finally {
    rmSync(empty, { recursive: true, force: true })
  }
})

test('the guide shows the lines of the programs', () => {
  const programs = readdirSync(path.join(root, 'examples/servers'))
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => readFileSync(path.join(root, 'examples/servers', name), 'utf8'))
  const shown = fenced(guide, 'mjs')
  assert.equal(shown.length, 3)
  for (const lines of shown) {
    assert.ok(
      programs.some((text) => text.includes(lines)),
      `no program has these lines:\n${lines}`,
    )
  }
})
