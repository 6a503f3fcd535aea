/** Requests are encrypted by current standards or not sent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failure, httpsServer, outgoingFor } from './servers.ts'

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
