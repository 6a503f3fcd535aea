import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { addressRules } from '../../../core/net/address.ts'
import { openSocket } from '../../../core/net/connect.ts'
import { Exchange } from '../../../core/net/exchange.ts'
import { createOutgoing } from '../../../core/net/http.ts'
import {
  answering,
  failure,
  httpServer,
  httpsServer,
  identity,
  outgoingFor,
  rawServer,
  stillClock,
  tlsHost,
} from './servers.ts'

const refused = { code: 'refused-address', wroteBytes: false }

test('without the development list this machine cannot be reached, under any name or spelling', async (t) => {
  const { url, port, server } = await rawServer(t, () => {})
  server.on('connection', () => assert.fail('connected'))
  const { call } = outgoingFor(t, { allowLoopback: false })
  const hosts = [
    tlsHost,
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '127.0.0.1.',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    'localhost.',
  ]
  for (const host of hosts) {
    assert.deepEqual(await failure(call.http.get(`https://${host}:${port}/`)), refused, host)
  }
  assert.deepEqual(await failure(call.http.get(url)), refused)
})

test('a name is refused when any of its addresses is not public', async (t) => {
  const answers = [
    ['169.254.169.254'],
    ['fd00:ec2::254'],
    ['10.0.0.1'],
    ['0.0.0.0'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::a9fe:a9fe'],
    ['1.1.1.1', '192.168.0.1'],
    ['not an address'],
    [],
  ]
  for (const addresses of answers) {
    const { call } = outgoingFor(t, { allowLoopback: false, lookup: answering(addresses).lookup })
    assert.deepEqual(
      await failure(call.http.get('https://metadata.test/')),
      refused,
      addresses.join(),
    )
  }
})

test('the connection goes to the address that was checked, not to a second answer', async (t) => {
  const { url, port } = await httpsServer(t, (_request, answer) => answer.end('the checked one'))
  const other = await rawServer(t, () => {})
  other.server.close()
  other.server.listen(port, '127.0.0.2').on('connection', () => assert.fail('connected elsewhere'))
  await once(other.server, 'listening')
  const { lookup, asked } = answering(['127.0.0.1'], ['127.0.0.2'])
  const { call } = outgoingFor(t, { lookup })
  assert.equal((await call.http.get(url)).text(), 'the checked one')
  assert.deepEqual(asked, [tlsHost])
})

test('a later answer of the resolver is checked again for each new connection', async (t) => {
  const { url } = await httpsServer(t, (_request, answer) =>
    answer.setHeader('connection', 'close').end('ok'),
  )
  const { lookup, asked } = answering(['127.0.0.1'], ['10.0.0.1'])
  const { call } = outgoingFor(t, { lookup })
  assert.equal((await call.http.get(url)).status, 200)
  assert.deepEqual(await failure(call.http.get(url)), refused)
  assert.equal(asked.length, 2)
})

test('a connection to another address than the checked one is not used', async (t) => {
  const { port } = await rawServer(t, () => {})
  const forever = { monotonicMs: Number.POSITIVE_INFINITY, wallMs: Number.POSITIVE_INFINITY }
  const exchange = new Exchange(true, forever, stillClock())
  const opening = { host: tlsHost, port: 443, protocol: 'https:', exchange } as const
  const rules = addressRules({ allowLoopback: false })
  const elsewhere = connect(port, '127.0.0.1')
  const work = openSocket(opening, () => elsewhere, {
    rules,
    lookup: answering(['1.1.1.1']).lookup,
  })
  assert.deepEqual(await failure(work), refused)
  assert.equal(elsewhere.destroyed, true)
})

test('plain http reaches this machine only, even where the resolver says otherwise', async (t) => {
  const { port } = await httpServer(t, (_request, answer) => answer.end('ok'))
  const here = outgoingFor(t)
  assert.equal((await here.call.http.get(`http://localhost:${port}/`)).status, 200)
  assert.deepEqual(await failure(here.call.http.get(`http://${tlsHost}:${port}/`)), refused)
  const lied = outgoingFor(t, { lookup: answering(['10.1.0.1']).lookup, allow: ['10.0.0.0/8'] })
  assert.deepEqual(await failure(lied.call.http.get(`http://localhost:${port}/`)), refused)
})

test('an entry of the development list is reached by https', async (t) => {
  const { url } = await httpsServer(t, (_request, answer) => answer.end('ok'))
  const { call } = outgoingFor(t, { allowLoopback: false, allow: ['127.0.0.1'] })
  assert.equal((await call.http.get(url)).status, 200)
})

test('a redirect is an answer and leads nowhere', async (t) => {
  const target = await rawServer(t, () => {})
  target.server.on('connection', () => assert.fail('followed'))
  for (const location of [
    target.url,
    'https://169.254.169.254/latest/meta-data/',
    '//127.0.0.1/',
  ]) {
    for (const status of [301, 302, 303, 307, 308]) {
      const { url } = await httpServer(t, (_request, answer) =>
        answer.writeHead(status, { location }).end('moved'),
      )
      const { call } = outgoingFor(t)
      const answer = await call.http.get(url)
      assert.deepEqual(
        [answer.status, answer.headers.location, answer.text()],
        [status, location, 'moved'],
      )
    }
  }
})

test('an additional certificate authority that is not a certificate is refused at start', () => {
  const options = { name: 'test', allowLoopback: false, ca: [identity.cert, identity.key] }
  assert.throws(() => createOutgoing(options), /^Error: ca\[1\] must be a certificate in PEM$/)
})

test('the environment sets no proxy and switches no verification off', async (t) => {
  const proxy = await rawServer(t, () => {})
  proxy.server.on('connection', () => assert.fail('the proxy was used'))
  const plain = await httpServer(t, (_request, answer) => answer.end('direct'))
  const secure = await httpsServer(t, () => assert.fail('an unverified server got the request'))
  const program = `
    import { createOutgoing } from ${JSON.stringify(new URL('../../../core/net/http.ts', import.meta.url))}
    const outgoing = createOutgoing({ name: 'child', allowLoopback: true })
    const call = outgoing.forCall({
      deadlineMs: Infinity, sendBy: { monotonicMs: Infinity, wallMs: Infinity }, signal: new AbortController().signal,
    })
    console.log((await call.http.get('${plain.url}')).text())
    console.log(await call.http.get('https://localhost:${secure.port}').catch((error) => error.code + ' ' + error.message))
    await outgoing.close()
  `
  const child = spawn(
    process.execPath,
    ['--conditions=@tollgate/source', '--no-warnings', '--input-type=module', '--eval', program],
    {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      env: {
        ...process.env,
        NODE_USE_ENV_PROXY: '1',
        HTTP_PROXY: proxy.url,
        HTTPS_PROXY: proxy.url,
        ALL_PROXY: proxy.url,
        NO_PROXY: '',
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let printed = ''
  child.stdout.on('data', (data) => {
    printed += data
  })
  const [code] = await once(child, 'close')
  assert.equal(
    printed,
    'direct\nnot-sent The TLS handshake with localhost failed (DEPTH_ZERO_SELF_SIGNED_CERT).\n',
  )
  assert.equal(code, 0)
})
