/**
 * Loaded before every test: each answer that a test receives from the REST surface by `fetch`, and each
 * notification to a receiver of the tests, is checked against the OpenAPI document. A wrong answer fails its
 * request, and each wrong one fails the run, even if the test expects failures.
 */
import type { AnswerCheck } from './documented-answers.ts'
import { onDelivery } from './notification-receiver.ts'

const plain = globalThis.fetch
const wrong: string[] = []

/** Every answer of the REST surface has it, and no answer of anything else in the tests. */
const mark = 'x-request-id'

let made: Promise<AnswerCheck> | undefined

/** The document is large, and most tests ask no server. */
function check(): Promise<AnswerCheck> {
  made ??= import('./documented-answers.ts').then(({ answerCheck }) => answerCheck())
  return made
}

function noted<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (wrong.length === 0) process.once('exit', report)
    wrong.push(error instanceof Error ? error.message : String(error))
    throw error
  }
}

function report(): void {
  process.exitCode = 1
  console.error(`✖ answers that the OpenAPI document does not have:\n${wrong.join('\n')}`)
}

globalThis.fetch = async (input, init) => {
  const response = await plain(input, init)
  if (!response.headers.has(mark)) return response
  const method = input instanceof Request ? input.method : (init?.method ?? 'GET')
  const asked = {
    method: response.redirected ? 'GET' : method.toUpperCase(),
    path: new URL(response.url).pathname,
  }
  const answers = await check()
  const { status, headers } = response
  const body = noted(() => answers.head(asked, { status, header: (name) => headers.get(name) }))
  return checkedAtReading(response, (text) => noted(() => body(text)))
}

function checkedAtReading(response: Response, body: (text: string) => void): Response {
  const bytes = response.arrayBuffer.bind(response)
  const read = async () => {
    const all = Buffer.from(await bytes())
    body(all.toString('utf8'))
    return all
  }
  return Object.assign(response, {
    text: async () => (await read()).toString('utf8'),
    json: async () => JSON.parse((await read()).toString('utf8')),
    bytes: async () => new Uint8Array(await read()),
    arrayBuffer: async () => new Uint8Array(await read()).buffer,
  })
}

/** Notifications of the gateway; tests of the receiver make up others. */
const ofGateway = /^[0-9a-f]{32}/

onDelivery.add(({ id, headers, notification }) => {
  if (notification === undefined || !ofGateway.test(id)) return
  check()
    .then((answers) => noted(() => answers.notification((name) => headers[name], notification)))
    // It is noted, and no request waits for it.
    .catch(() => {})
})
