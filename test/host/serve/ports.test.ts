/** The ports of an installation, which URLs of its merchants must not reach. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portsIn } from '../../../host/serve/ports.ts'

const cases: readonly (readonly [string | undefined, readonly number[]])[] = [
  ['http://127.0.0.1:8080', [8080]],
  ['http://127.0.0.1', [80]],
  ['http://127.0.0.1:80/', [80]],
  ['https://localhost', [443]],
  ['https://[::1]:8443/path', [8443]],
  ['postgres://user@localhost/tollgate', [5432]],
  ['postgresql://user@localhost:6432/tollgate', [6432]],
  ['no address', []],
  [undefined, []],
]

for (const [url, ports] of cases) {
  test(`${url} is kept from merchants with ${ports.length === 0 ? 'no port' : ports}`, () => {
    assert.deepEqual(portsIn([url]), ports)
  })
}
