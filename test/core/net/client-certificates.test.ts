/** TLS in both directions: the acquirer asks for the client's certificate, and has an authority of its own. */
import assert from 'node:assert/strict'
import https from 'node:https'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { HttpError, type HttpTls, Sensitive } from '@tollgate/plugin-kit'
import { selfSigned } from './certificate.ts'
import { failure, httpsServer, identity, outgoingFor, tlsHost } from './servers.ts'

const ours = selfSigned('shop.test')
const others = selfSigned('another.test')
const mine: HttpTls = { cert: ours.cert, key: new Sensitive(ours.key) }

/** A server that serves only the client with our certificate, and names the client that it serves. */
async function mutualServer(t: TestContext, as = identity) {
  const { url, server } = await httpsServer(
    t,
    (request, answer) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate()
      answer.end(subject?.CN ?? 'nobody')
    },
    as,
  )
  assert.ok(server instanceof https.Server)
  const options = { key: as.key, cert: as.cert, ca: [ours.cert, others.cert] }
  server.setSecureContext(options)
  Object.assign(server, { requestCert: true, rejectUnauthorized: true })
  return { url, server }
}

test('an acquirer that asks for a client certificate gets the one of the account', async (t) => {
  const { url } = await mutualServer(t)
  const { call } = outgoingFor(t)
  const answer = await call.http.post(url, {}, { moves: true, tls: mine })
  assert.equal(answer.text(), 'shop.test')
})

test('a request without the certificate gets no answer', async (t) => {
  const { url } = await mutualServer(t)
  const { call } = outgoingFor(t)
  const { code } = await failure(call.http.get(url))
  assert.ok(code === 'reset' || code === 'not-sent', code)
})

test('two accounts at one acquirer never share a connection', async (t) => {
  const { url } = await mutualServer(t)
  const { newCall } = outgoingFor(t)
  const their: HttpTls = { cert: others.cert, key: others.key }
  const seen: string[] = []
  for (const tls of [mine, their, mine, their]) {
    seen.push((await newCall().http.get(url, {}, { tls })).text())
  }
  assert.deepEqual(seen, ['shop.test', 'another.test', 'shop.test', 'another.test'])
})

test('requests with equal certificates use the kept connection', async (t) => {
  const { url, server } = await mutualServer(t)
  let connections = 0
  server.on('secureConnection', () => {
    connections += 1
  })
  const { newCall } = outgoingFor(t)
  for (let turn = 0; turn < 3; turn += 1) await newCall().http.get(url, {}, { tls: { ...mine } })
  assert.equal(connections, 1)
})

test('an authority of the acquirer counts for its requests alone, and in place of all others', async (t) => {
  const own = selfSigned(tlsHost)
  const { url } = await mutualServer(t, own)
  const { newCall } = outgoingFor(t)
  const trusting = { ...mine, ca: own.cert }
  assert.equal((await newCall().http.get(url, {}, { tls: trusting })).text(), 'shop.test')
  assert.deepEqual(await failure(newCall().http.get(url, {}, { tls: mine })), {
    code: 'not-sent',
    wroteBytes: false,
  })
  const public_ = await mutualServer(t)
  const distrusted = failure(newCall().http.get(public_.url, {}, { tls: trusting }))
  assert.deepEqual(await distrusted, { code: 'not-sent', wroteBytes: false })
})

test('certificates that cannot be used are named, and nothing is sent', async (t) => {
  const { url } = await mutualServer(t)
  const { newCall } = outgoingFor(t)
  const cases: readonly (readonly [HttpTls, RegExp])[] = [
    [{ cert: ours.cert }, /tls\.cert and tls\.key belong together/],
    [{ key: ours.key }, /tls\.cert and tls\.key belong together/],
    [{ cert: 'no PEM', key: ours.key }, /tls\.cert must be a certificate in PEM/],
    [{ cert: ours.cert, key: 'no PEM' }, /tls\.key must be a private key in PEM/],
    [{ cert: ours.cert, key: others.key }, /tls\.key must be the key of tls\.cert/],
    [{ ...mine, ca: 'no PEM' }, /tls\.ca must be a certificate in PEM/],
  ]
  for (const [tls, why] of cases) {
    const call = newCall()
    await assert.rejects(call.http.post(url, {}, { moves: true, tls }), (error) => {
      assert.ok(error instanceof HttpError)
      assert.deepEqual([error.code, error.wroteBytes], ['not-sent', false])
      assert.match(error.message, why)
      assert.ok(!error.message.includes('PRIVATE'), 'the error quotes no key')
      return true
    })
    assert.equal(call.sent(), 'not-moved')
  }
})

test('neither transcript nor error holds the key', async (t) => {
  const { url } = await mutualServer(t)
  const { call } = outgoingFor(t)
  await call.http.post(url, { a: 1 }, { tls: mine })
  const kept = JSON.stringify(call.transcript())
  const [, secretLine = ''] = ours.key.split('\n')
  assert.ok(kept.includes('"a"') || kept.includes('a'), 'the request is in the transcript')
  assert.ok(!kept.includes(secretLine), 'the key is not')
})
