/** A request that waits, or whose body is on its way, does not outlive its token or its session. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { until } from '../../rig/gateway.ts'
import { type Enrolled, enrol, logIn, office, password } from '../../rig/operators.ts'
import { publishReport } from '../../rig/report-files.ts'
import { ask, debit, type Hosted, startHost } from './hosted.ts'

describe('rights that end before their request begins', () => {
  let host: Hosted
  before(async () => {
    host = await startHost({}, { passwordLogRounds: 8 })
  })
  after(() => host.close())

  const head = (line: string, ...headers: readonly string[]) =>
    [`${line} HTTP/1.1`, `Host: ${new URL(host.url).host}`, ...headers, '', ''].join('\r\n')

  async function opened(text: string): Promise<Socket> {
    const { port, hostname } = new URL(host.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(text)
    return socket
  }

  /** All that still comes on a connection. */
  async function rest(socket: Socket): Promise<string> {
    let text = ''
    for await (const some of socket.setEncoding('latin1')) text += some
    return text
  }
  const lastIn = (text: string) => text.slice(text.lastIndexOf('HTTP/1.1 '))

  // More would make the server stop reading before the last request.
  const pages = 14
  /** A read behind public pages that nobody reads, more than all buffers of the connection hold. */
  const queued = async (last: string): Promise<Socket> => {
    const socket = await opened(head('GET /openapi.json').repeat(pages) + last)
    socket.pause()
    return socket
  }

  /** A request whose body has begun. */
  const begun = async (line: string, body: string, ...headers: readonly string[]) => {
    const length = `Content-Length: ${Buffer.byteLength(body)}`
    const socket = await opened(head(line, length, 'Connection: close', ...headers))
    socket.write(body.slice(0, 1))
    const whole = () => {
      socket.write(body.slice(1))
      return rest(socket)
    }
    return { whole }
  }

  const asToken = (token: string) => `Authorization: Bearer ${token}`
  /** A token that the process knows, and will for seconds after its end. */
  const known = async (name: string) => {
    const made = await host.gateway.entities.createToken(host.merchant, name)
    assert.equal((await ask(host.url, '/v1/webhooks', { token: made.token })).status, 200)
    return made
  }
  /** A token that the process refuses, seconds after its end. */
  async function revoked(id: string, token: string): Promise<void> {
    await host.gateway.entities.revokeToken(id)
    await until(async () =>
      (await ask(host.url, '/v1/webhooks', { token })).status === 403 ? true : undefined,
    )
  }
  const admin = async (name: string): Promise<Enrolled & { cookie: string }> => {
    const person = await enrol(host.gateway, name, 'admin')
    return { ...person, cookie: (await logIn(host.url, person)).cookie }
  }
  /** Waits until the host has seen a request of the person. */
  const seen = ({ id }: { readonly id: string }) =>
    until(async () => {
      const [row] = await host.sql(
        'select from tollgate.person_session where person_id = $1 and seen_at > created_at',
        [id],
      )
      return row
    })

  test('a read that waits behind unread answers is refused after the end of its token', async () => {
    const { id, token } = await known('reader')
    const last = head('GET /v1/events?limit=5', asToken(token), 'Connection: close')
    const socket = await queued(last)
    await revoked(id, token)
    const { status } = await ask(host.url, '/v1/payments', { token: host.token, form: debit })
    assert.equal(status, 200)
    const answer = lastIn(await rest(socket))
    assert.match(answer, /^HTTP\/1\.1 403 /)
    assert.doesNotMatch(answer, /"events"/)
  })

  test('a read of an operator that waits behind unread answers is refused after their end', async () => {
    const waiting = await admin('waiting')
    const { id, cookie } = waiting
    const socket = await queued(
      head('GET /operator/v1/audit?limit=5', `Cookie: ${cookie}`, 'Connection: close'),
    )
    await seen(waiting)
    await host.gateway.people.disable(id)
    const answer = lastIn(await rest(socket))
    assert.match(answer, /^HTTP\/1\.1 401 /)
    assert.doesNotMatch(answer, /"entries"/)
    assert.deepEqual(await host.sql("select from tollgate.audit where action = 'audit.listed'"), [])
  })

  test('a change whose body comes after the end of its token is refused', async () => {
    const { id, token } = await known('writer')
    const url = 'https://shop.example/hook'
    const form = new URLSearchParams({ entityId: host.merchant, url }).toString()
    const type = 'Content-Type: application/x-www-form-urlencoded'
    const late = await begun('POST /v1/webhooks', form, asToken(token), type)
    await revoked(id, token)
    assert.match(await late.whole(), /^HTTP\/1\.1 403 /)
    assert.deepEqual(await host.sql('select from tollgate.webhook_endpoint'), [])
  })

  test('a change whose body comes after the end of its operator, or of the right, is refused', async () => {
    const [gone, demoted] = [await admin('gone'), await admin('demoted')]
    const fresh = { name: 'backdoor', password, role: 'admin', entityId: 'all' }
    const late = await Promise.all(
      [gone, demoted].map(({ cookie }) =>
        begun(
          'POST /operator/v1/people',
          JSON.stringify(fresh),
          ...[`Cookie: ${cookie}`, `Origin: ${host.url}`, 'Content-Type: application/json'],
        ),
      ),
    )
    await Promise.all([gone, demoted].map(seen))
    await host.gateway.people.disable(gone.id)
    await host.gateway.people.change(demoted.id, { role: 'viewer' })
    const session = await office(host.url, '/operator/v1/session', { cookie: demoted.cookie })
    assert.equal(session.status, 200)
    const answers = await Promise.all(late.map((one) => one.whole()))
    assert.match(answers[0]!, /^HTTP\/1\.1 401 /)
    assert.match(answers[1]!, /^HTTP\/1\.1 403 /)
    await assert.rejects(host.gateway.people.named('backdoor'), { status: 404 })
  })

  test('a report file that is being sent ends with its token', async () => {
    const bytes = Buffer.alloc(48 * 1024 * 1024, 'SETTLED;DB;92.00\r\n')
    const file = await publishReport(host, host.merchant, bytes)
    const { id, token } = await host.gateway.entities.createToken(host.merchant, 'reader')
    const path = `/reports/v1/reconciliations/files/${file.id}`
    const socket = await opened(head(`GET ${path}`, asToken(token), 'Connection: close'))
    await once(socket, 'readable')
    await revoked(id, token)
    const text = await rest(socket).catch(() => '')
    assert.ok(text.length < bytes.length / 2, `${text.length} bytes`)
  })
})
