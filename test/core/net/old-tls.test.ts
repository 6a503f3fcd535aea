/** Requests are encrypted by current standards or not sent. */
import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { type TestContext, test } from 'node:test'
import { selfSignedByRsa } from './certificate.ts'
import { failure, httpsServer, outgoingFor, tlsHost } from './servers.ts'

const rsa = selfSignedByRsa(tlsHost)

for (const version of ['TLSv1', 'TLSv1.1'] as const) {
  test(`a server limited to ${version} is sent nothing`, async (t) => {
    const old = await httpsServer(t, () => assert.fail('a request was written'))
    old.server.setSecureContext({
      ...old.identity,
      minVersion: 'TLSv1',
      maxVersion: version,
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    const { call } = outgoingFor(t)
    const sent = call.http.post(old.url, {}, { moves: true })
    assert.deepEqual(await failure(sent), { code: 'not-sent', wroteBytes: false })
    assert.equal(call.sent(), 'not-moved')
  })
}

/** A server that proves itself with an RSA key, as DHE needs, and agrees to nothing but this suite. */
async function serverWith(t: TestContext, ciphers: string, answer: RequestListener) {
  const made = await httpsServer(t, answer, rsa)
  const { key, cert } = rsa
  made.server.setSecureContext({ key, cert, ciphers, maxVersion: 'TLSv1.2', dhparam: 'auto' })
  return made
}

for (const [what, tls] of [
  ['the installation', undefined],
  ['an acquirer', { ca: rsa.cert }],
] as const) {
  test(`with the authorities of ${what}, no server chooses numbers for Diffie-Hellman`, async (t) => {
    const nothing = () => assert.fail('a request was written')
    const { url } = await serverWith(t, 'DHE-RSA-AES128-GCM-SHA256', nothing)
    const { call } = outgoingFor(t, { ca: [rsa.cert] })
    const sent = call.http.post(url, {}, { moves: true, ...(tls && { tls }) })
    assert.deepEqual(await failure(sent), { code: 'not-sent', wroteBytes: false })
    const usual = await serverWith(t, 'ECDHE-RSA-AES128-GCM-SHA256', (_, answer) =>
      answer.end('ok'),
    )
    assert.equal((await call.http.get(usual.url, {}, { ...(tls && { tls }) })).text(), 'ok')
  })
}

test('a server limited to TLSv1.2 is used', async (t) => {
  const { url, server, identity } = await httpsServer(t, (_, answer) => answer.end('ok'))
  server.setSecureContext({
    ...identity,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.2',
    ciphers: 'DEFAULT@SECLEVEL=0',
  })
  const { call } = outgoingFor(t)
  assert.equal((await call.http.get(url)).text(), 'ok')
})
