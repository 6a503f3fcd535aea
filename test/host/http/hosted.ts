/** A real engine behind a real server on a free port, with clients. */
import { connect } from 'node:net'
import { createHost, type HostLog, type HostOptions } from '../../../host/index.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from '../../rig/gateway.ts'
import { startPods } from '../../rig/pods.ts'

export type LoggedLine = Readonly<Record<string, unknown>>

export type Hosted = TestGateway & {
  readonly url: string
  /** The channel's token. */
  readonly token: string
  readonly lines: readonly LoggedLine[]
  /** Acts like the process after an uncaught error. */
  faulted(error: unknown, afterMs: number): void
  /** Stops only the server; the engine stays open. */
  closeServer(): Promise<void>
}

/** Serves an engine started for this file. */
export async function startHost(
  options: HostOptions = {},
  ofEngine: TestGatewayOptions = {},
): Promise<Hosted> {
  const { engine, served, end } = await engines({ role: 'api', ...ofEngine })
  const lines: LoggedLine[] = []
  const record = (fields: object) => void lines.push(fields as LoggedLine)
  const log: HostLog = { debug: record, info: record, warn: record }
  // Where two people are needed, the set-up is done by an engine without that rule.
  const setUp = ofEngine.fourEyes ? await engine.another({ fourEyes: false }) : engine.gateway
  const { token } = await setUp.entities.createToken(engine.channel, 'test')
  const host = createHost(served, { port: 0, log, ...options })
  const { url, close, faulted } = await host.listen()
  return {
    ...engine,
    url,
    token,
    lines,
    faulted,
    closeServer: close,
    async close() {
      await close()
      await end()
    },
  }
}

/** The engine of a file, and with the switch another one beside it, as a second pod of the same host. */
async function engines(options: TestGatewayOptions) {
  // A file that stands between its engine and the database is about one database.
  if (!wantsPods || options.through !== undefined || options.pod !== undefined) {
    const engine = await startGateway(options)
    return { engine, served: engine.gateway, end: () => engine.close() }
  }
  const { engine, pods, close } = await startPods(options)
  return { engine, served: pods, end: close }
}

const wantsPods = process.env.TOLLGATE_TEST_PODS !== undefined

/** A debit of 92.00 EUR by an approved VISA card. */
export const debit: Readonly<Record<string, string>> = {
  amount: '92.00',
  currency: 'EUR',
  paymentType: 'DB',
  paymentBrand: 'VISA',
  'card.number': '4200000000000000',
  'card.holder': 'Jane Jones',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
  'card.cvv': '123',
}

export const without = (fields: Readonly<Record<string, string>>, ...names: string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

export type Body = {
  id: string
  result: {
    code: string
    description: string
    parameterErrors?: { name: string; message: string }[]
  }
  buildNumber: string
  timestamp: string
  ndc: string
  [field: string]: unknown
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: Body }

/** One request. `form` makes it a POST; without `token` it has no Authorization header. */
export async function ask(
  url: string,
  path: string,
  more: {
    token?: string | undefined
    form?: Readonly<Record<string, string>> | string
    method?: string
    headers?: Readonly<Record<string, string>>
    body?: string | Uint8Array<ArrayBuffer>
  } = {},
): Promise<Answer> {
  const { token, form, headers = {} } = more
  const body = more.body ?? (form === undefined ? null : new URLSearchParams(form).toString())
  const response = await fetch(url + path, {
    method: more.method ?? (body === null ? 'GET' : 'POST'),
    headers: {
      ...(form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body,
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? ({} as Body) : JSON.parse(text),
  }
}

/** Sends bytes on a new connection and returns all bytes received before its end. */
export async function exchange(
  url: string,
  ...parts: readonly (string | (() => Promise<string>))[]
): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let text = ''
  let isClosed = false
  let goOn = () => {}
  const closed = new Promise<void>((resolve) => socket.once('close', resolve))
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  socket.on('drain', () => goOn())
  socket.once('close', () => {
    isClosed = true
    goOn()
  })
  // A server may cut the connection, and its earlier answers count.
  socket.on('error', () => {})
  for (const part of parts) {
    const next = typeof part === 'string' ? part : await part()
    if (isClosed) break
    const room = new Promise<void>((resolve) => {
      goOn = resolve
    })
    if (!socket.write(next)) await room
  }
  await closed
  return text
}

/** Status and body of each answer in a connection's text. */
export function answersIn(text: string): { status: number; body: Body }[] {
  return text
    .split(/(?=HTTP\/1\.1 [0-9]{3} )/)
    .filter((part) => part.startsWith('HTTP/1.1 ') && !part.startsWith('HTTP/1.1 100'))
    .map((part) => {
      const body = part.slice(part.indexOf('\r\n\r\n') + 4)
      return { status: Number(part.slice(9, 12)), body: JSON.parse(body) as Body }
    })
}

/** A payment request on the wire. */
export function paymentText(
  token: string,
  form: Readonly<Record<string, string>>,
  ...headers: readonly string[]
): string {
  const body = new URLSearchParams(form).toString()
  return [
    'POST /v1/payments HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
    ...headers,
    '',
    body,
  ].join('\r\n')
}

const underWayWithinMs = 5_000

/** Waits until a payment is committed and its connector call is under way. @returns its id. */
export async function underWay(
  { sql }: Pick<TestGateway, 'sql'>,
  merchantTransactionId: string,
): Promise<string> {
  const since = performance.now()
  while (performance.now() - since < underWayWithinMs) {
    const [row] = await sql<{ id: string }>(
      "select id from tollgate.payment where merchant_transaction_id = $1 and state = 'processing'",
      [merchantTransactionId],
    )
    if (row !== undefined) return row.id
  }
  throw new Error(`payment ${merchantTransactionId} did not get under way`)
}
