/**
 * Answers of the REST surface against the OpenAPI document. The document lets answers grow; here nothing may
 * be in an answer that the document does not have.
 */
import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { openApiDocument } from '../../schemas/index.ts'

type Schema = { readonly [keyword: string]: unknown }
type Response = {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}
type Operation = { readonly responses: Readonly<Record<string, Response>> }
type Header = { readonly required?: boolean; readonly schema: Schema }
type Webhook = {
  readonly parameters: readonly (Header & { readonly name: string })[]
  readonly requestBody: Required<Pick<Response, 'content'>>
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: { readonly notification: { readonly post: Webhook } }
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Response>>
    readonly headers: Readonly<Record<string, Header>>
  }
}

export type Asked = { readonly method: string; readonly path: string }
export type Answered = {
  readonly status: number
  readonly header: (name: string) => string | null
  readonly text: string
}

/** The paths of operators are in documents of their own. */
const ofOperators = /^(?:\/pods\/[0-9]+)?\/operator\//
/** A connector chooses the words that its acquirer reads. Refusals are the gateway's. */
const ofAcquirers = /\/connectors\/[^/]+\/[^/]+\/events$/

export class AnswerCheck {
  readonly #document: Document
  readonly #ajv = new Ajv2020({ strict: false, validateSchema: false, formats: { uri: true } })
  readonly #compiled = new Map<string, ValidateFunction>()
  readonly #routes: readonly { readonly path: string; readonly pattern: RegExp }[]

  constructor(document: Document) {
    this.#document = document
    this.#ajv.addSchema({ $id: 'api', components: closed(document.components) })
    // Fixed parts before parameters, as `preview` before `{id}`.
    this.#routes = Object.keys(document.paths)
      .sort((one, other) => parametersIn(one) - parametersIn(other))
      .map((path) => ({ path, pattern: patternOf(path) }))
  }

  /** Status, media type and headers. @throws AssertionError @returns what checks the body. */
  head(asked: Asked, answer: Omit<Answered, 'text'>): (text: string) => void {
    if (ofAcquirers.test(asked.path) && answer.status < 300) return () => {}
    const what = `${asked.method} ${asked.path} was answered with ${answer.status}`
    const response = this.#responseTo(asked, answer.status, what)
    if (response === undefined) return () => {}
    this.#headers(response, answer, what)
    const type = answer.header('content-type')?.split(';', 1)[0]
    const { content } = response
    if (content === undefined || asked.method === 'HEAD') {
      return (text) => assert.equal(text, '', `${what}, and with a body`)
    }
    if (answer.status === 303) return () => {}
    const media = content[type ?? ''] ?? content['*/*']
    assert.ok(media, `${what} as ${type}; the document has ${Object.keys(content).join(', ')}`)
    if (type !== 'application/json' || media.schema === undefined) return () => {}
    const { schema } = media
    return (text) => this.#fits(schema, JSON.parse(text), what)
  }

  answer(asked: Asked, answer: Answered): void {
    this.head(asked, answer)(answer.text)
  }

  /** A request to a webhook endpoint: its headers, and its body after decryption. */
  notification(header: (name: string) => string | undefined, body: unknown): void {
    const { parameters, requestBody } = this.#document.webhooks.notification.post
    for (const { name, required, schema } of parameters) {
      const value = header(name.toLowerCase())
      assert.ok(value !== undefined || required !== true, `a notification without ${name}`)
      if (value !== undefined) this.#fits(schema, value, `${name} of a notification`)
    }
    const { schema } = requestBody.content['application/json']!
    this.#fits(schema!, body, 'the body of a notification')
  }

  #responseTo({ method, path }: Asked, status: number, what: string): Response | undefined {
    const item = this.#itemAt(path)
    const asked = method === 'HEAD' ? 'get' : method.toLowerCase()
    const responses = item?.[asked]?.responses
    if (responses === undefined) {
      if (ofOperators.test(path)) return undefined
      assert.ok(status >= 400, `${what}; the document has no such operation`)
      return this.#document.components.responses.NotHere
    }
    const found = responses[String(status)] ?? responses.default
    assert.ok(found, `${what}; the document has only ${Object.keys(responses).join(', ')}`)
    const name = found.$ref?.split('/').at(-1)
    return name === undefined ? found : this.#document.components.responses[name]
  }

  /** A gateway can be mounted below a prefix. */
  #itemAt(path: string): Document['paths'][string] | undefined {
    const plain = path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
    const matches = this.#routes.flatMap((route) => {
      const found = route.pattern.exec(plain)
      return found === null ? [] : [{ route, prefix: found[1]!.length }]
    })
    const shortest = Math.min(...matches.map(({ prefix }) => prefix))
    const best = matches.find(({ prefix }) => prefix === shortest)
    return best && this.#document.paths[best.route.path]
  }

  #headers(response: Response, answer: Omit<Answered, 'text'>, what: string): void {
    for (const [name, { $ref }] of Object.entries(response.headers ?? {})) {
      const { required, schema } = this.#document.components.headers[$ref.split('/').at(-1)!]!
      const value = answer.header(name)
      assert.ok(value !== null || required !== true, `${what}, and without ${name}`)
      if (value !== null) this.#fits(schema, value, `${what}, header ${name}`)
    }
  }

  #fits(schema: Schema, value: unknown, what: string): void {
    const text = JSON.stringify(schema)
    const check = this.#compiled.get(text) ?? this.#ajv.compile(closed(outside(text)))
    this.#compiled.set(text, check)
    if (check(value)) return
    const problems = (check.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
    assert.fail(`${what}, not as the OpenAPI document says:\n${problems.join('\n')}`)
  }
}

const parametersIn = (path: string) => path.split('{').length

/** The last parameter of a page's path takes all that follows. */
const patternOf = (path: string): RegExp =>
  new RegExp(
    `^(.*?)${path
      .replaceAll('.', '\\.')
      .replace(/\{rest\}$/, '.+')
      .replaceAll(/\{[^{}]+\}/g, '[^/]+')}$`,
  )

/** References of a part of the document, as seen from outside. */
const outside = (text: string): Schema => JSON.parse(text.replaceAll('"#/', '"api#/'))

/** Objects with fields have no others. */
function closed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(closed) as T
  if (typeof value !== 'object' || value === null) return value
  const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]))
  const { type, properties, additionalProperties: more } = value as Schema
  const isOpen = more === undefined || more === true
  const isObject = type === 'object' && typeof properties === 'object' && isOpen
  return (isObject ? { ...inner, additionalProperties: false } : inner) as T
}

let made: Promise<AnswerCheck> | undefined

/** The check by the document of this version, made once. */
export function answerCheck(): Promise<AnswerCheck> {
  made ??= openApiDocument().then((document) => new AnswerCheck(document as Document))
  return made
}
