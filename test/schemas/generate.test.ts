import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { classesOf } from '../../schemas/generate/classes.ts'
import { documentsOf } from '../../schemas/generate/documents.ts'
import { generate } from '../../schemas/generate/generate.ts'
import { html, prose } from '../../schemas/generate/markup.ts'
import { rangePattern } from '../../schemas/generate/range.ts'
import { stepsOf, treeOf } from '../../schemas/generate/tree.ts'
import {
  brands,
  endpoints,
  exampleOf,
  type Field,
  fieldClasses,
  groups,
  openApiDocument,
  operations,
  panFields,
  reference,
  results,
  sadFields,
  valueSchema,
} from '../../schemas/index.ts'
import { group, N, none, O, pan, request, sad } from '../../schemas/table.ts'

const generated = join(import.meta.dirname, '../../schemas/generated')
const read = (path: string) => readFileSync(join(generated, path), 'utf8')
const json = (path: string) => JSON.parse(read(path))

describe('the committed files', () => {
  it('the committed files are what the tables generate (npm run generate)', async () => {
    const files = await generate()
    const present = globSync('**/*', { cwd: generated, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(generated.length + 1))
    assert.deepEqual(present.sort(), [...files.keys()].sort())
    for (const [path, text] of files) assert.ok(text === read(path), `${path} is stale`)
  })

  it('the generated files are the same on every run', async () => {
    assert.deepEqual(await generate(), await generate())
  })

  it('a command checks the files and names the stale ones', () => {
    const main = join(import.meta.dirname, '../../schemas/generate/main.ts')
    const args = ['--conditions=@tollgate/source', main, '--check']
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(`${status} ${stderr}`, '0 ')
  })
})

describe('the JSON Schemas', () => {
  const folders = ['requests', 'answers'] as const

  it('every operation has its schemas', () => {
    for (const folder of folders) {
      for (const name of operations().keys())
        assert.ok(existsSync(join(generated, folder, `${name}.json`)))
    }
  })

  it('the schemas are valid and complete by themselves: any validator can load them', () => {
    for (const folder of folders) {
      const ajv = new Ajv2020({ strict: true, formats: { uri: true } })
      ajv.addSchema(json(`${folder}/definitions.json`))
      for (const name of operations().keys()) {
        const schema = json(`${folder}/${name}.json`)
        assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema')
        assert.ok(ajv.validateSchema(schema))
        assert.equal(typeof ajv.compile(schema), 'function')
      }
    }
  })

  it('requests are checked with the same schemas', () => {
    const documents = documentsOf(operations())
    for (const [name, schema] of documents.requests) {
      assert.deepEqual(JSON.parse(JSON.stringify(schema)), json(`requests/${name}.json`))
    }
  })

  it('a payment with a missing or an additional field is refused', () => {
    const ajv = new Ajv2020({ strict: true, formats: { uri: true } })
    ajv.addSchema(json('requests/definitions.json'))
    const check = ajv.compile(json('requests/payments.create.json'))
    const payment = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
    const card = { number: '4200000000000000', expiryMonth: '05', expiryYear: '2034' }
    assert.equal(check(payment), true)
    assert.equal(check({ ...payment, card }), true)
    assert.equal(check({ ...payment, card: { holder: 'Jane Jones' } }), false)
    assert.equal(check({ ...payment, card, colour: 'red' }), false)
    assert.equal(check({ ...payment, card: { ...card, colour: 'red' } }), false)
    assert.equal(check({ ...payment, amount: 92 }), false)
    assert.equal(check({ ...payment, customParameters: { abc: 'x' } }), true)
    assert.equal(check({ ...payment, customParameters: { 'a b c': 'x' } }), false)
    assert.equal(check({ ...payment, cart: { items: Array(1001).fill({ name: 'x' }) } }), true)
    assert.equal(check({ ...payment, cart: { items: Array(1002).fill({ name: 'x' }) } }), false)
  })

  it('the example of every format is accepted', () => {
    const ajv = new Ajv2020({ strict: true, formats: { uri: true } })
    for (const { name, format } of groups.flatMap(({ fields }) => fields)) {
      const example = exampleOf(format)
      assert.ok(ajv.validate(valueSchema(format), example), `${name}: ${example}`)
    }
  })

  it('a schema requires the fields of its endpoint and, in a group, those of its table', () => {
    for (const { operation, required = [] } of endpoints) {
      const schema = json(`requests/${operation}.json`)
      const top = required.map((name) => name.split('.')[0])
      assert.deepEqual([...(schema.required ?? [])].sort(), [...new Set(top)].sort(), operation)
    }
    assert.deepEqual(json('requests/definitions.json').$defs.Card.required, [
      'number',
      'expiryMonth',
      'expiryYear',
    ])
  })
})

describe('names', () => {
  const field = (name: string, key?: { pattern: string; max: number }): Field => ({
    name,
    format: N(3),
    need: O,
    direction: request,
    class: none,
    meaning: 'x',
    options: key === undefined ? {} : { key },
  })

  it('names consist of keys, indexes, free keys and fixed keys in brackets', () => {
    const kinds = (name: string) =>
      stepsOf(field(name)).map((step) => (step.kind === 'key' ? step.key : `<${step.kind}>`))
    assert.deepEqual(kinds('card.number'), ['card', 'number'])
    assert.deepEqual(kinds('cart.items[n].recipient.city'), [
      'cart',
      'items',
      '<index>',
      'recipient',
      'city',
    ])
    assert.deepEqual(kinds('merchant.data[name]'), ['merchant', 'data', '<free>'])
    assert.deepEqual(kinds('schemeData[CB-USECASE]'), ['schemeData', 'CB-USECASE'])
  })

  it('contradicting names are refused', () => {
    const tree = (...names: string[]) => treeOf(names.map((name) => field(name)))
    assert.throws(() => tree('a', 'a.b'), /a both as a value and as a group/)
    assert.throws(() => tree('a.b', 'a'), /a both as a value and as a group/)
    assert.throws(() => tree('a', 'a'), /two rows for a/)
    assert.throws(() => tree('a[name]', 'a[name]'), /two rows for a\[name\]/)
    assert.throws(() => tree('a[n].b', 'a.c'), /both as a value and as a group/)
    assert.throws(() => tree('a[name].b'), /must stand last/)
    assert.doesNotThrow(() => tree('a.b', 'a.c', 'd[n].e', 'd[n].f', 'g[name]', 'g.h'))
  })
})

describe('number ranges', () => {
  it('a pattern matches the numbers of its range and no others', () => {
    fc.assert(
      fc.property(fc.nat(3000), fc.nat(3000), (one, other) => {
        const [min, max] = [Math.min(one, other), Math.max(one, other)]
        const pattern = new RegExp(`^${rangePattern(min, max)}$`)
        for (const near of [
          min - 1,
          min,
          min + 1,
          max - 1,
          max,
          max + 1,
          (min + max) >> 1,
          9,
          10,
          99,
          100,
          999,
          1000,
        ]) {
          if (near >= 0)
            assert.equal(
              pattern.test(String(near)),
              near >= min && near <= max,
              `${near} ${pattern}`,
            )
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('the OpenAPI document', async () => {
  const document = JSON.parse(JSON.stringify(await openApiDocument()))

  it('the document is the committed one', () => assert.deepEqual(document, json('openapi.json')))

  it('the document has every path, method and operation of the endpoints table', () => {
    for (const { method, path, alsoPaths = [], operation } of endpoints) {
      for (const one of [path, ...alsoPaths]) {
        assert.ok(document.paths[one]?.[method.toLowerCase()], `${method} ${one}`)
      }
      assert.equal(document.paths[path][method.toLowerCase()].operationId, operation)
    }
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item as object).map(({ operationId, summary }) => `${operationId} ${summary}`),
    )
    assert.equal(new Set(ids).size, ids.length)
  })

  it('the document has a parameter for every part of a path', () => {
    for (const [path, item] of Object.entries<
      Record<string, { parameters?: { name: string; in: string }[] }>
    >(document.paths)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      for (const { parameters = [] } of Object.values(item)) {
        assert.deepEqual(
          parameters.filter((one) => one.in === 'path').map(({ name }) => name),
          named,
        )
      }
    }
  })

  it('every reference in the document has its target', () => {
    const text = JSON.stringify(document)
    const wanted = new Set(
      [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name),
    )
    for (const name of wanted) assert.ok(document.components.schemas[name as string], name)
  })

  it('the document asks for a token except where the table says none', () => {
    assert.deepEqual(document.security, [{ token: [] }])
    for (const { method, path, login } of endpoints) {
      const { security } = document.paths[path][method.toLowerCase()]
      assert.equal(security.length === 0, login !== 'token', path)
    }
  })

  it('the document names the right of each operation beside the token, one of several where they differ', () => {
    const needed = ({ method, path }: { method: string; path: string }) =>
      document.paths[path][method.toLowerCase()].security.flatMap(
        (one: { token: string[] }) => one.token,
      )
    for (const endpoint of endpoints) {
      if (endpoint.login !== 'token') continue
      const rights = needed(endpoint)
      if (endpoint.right === 'by payment type') assert.ok(rights.length > 1, endpoint.operation)
      else {
        const { right, also } = endpoint
        const isAlways = also !== undefined && also.where === undefined
        assert.deepEqual(rights, isAlways ? [right, also.right] : [right])
      }
      const { description } = document.paths[endpoint.path][endpoint.method.toLowerCase()]
      for (const right of rights) assert.ok(description.includes(right), endpoint.operation)
    }
    const followUp = { method: 'POST', path: '/v1/payments/{id}' }
    assert.deepEqual(needed(followUp).sort(), ['charge', 'refund'])
    const schedule = { method: 'POST', path: '/scheduling/v1/schedules' }
    assert.deepEqual(needed(schedule).sort(), ['charge', 'payout'])
  })

  it("the document's forms take flat names, as a validator sees them", () => {
    const ajv = new Ajv2020({ strict: false, formats: { uri: true } })
    ajv.addSchema({ $id: 'api', components: document.components })
    const form =
      document.paths['/v1/payments'].post.requestBody.content['application/x-www-form-urlencoded']
        .schema
    const check = ajv.compile({
      $id: 'form',
      ...JSON.parse(JSON.stringify(form).replaceAll('"#/', '"api#/')),
    })
    const payment = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
    assert.equal(check({ ...payment, 'card.number': '4200000000000000' }), true)
    assert.equal(
      check({ ...payment, 'cart.items[12].name': 'Book', 'customParameters[abc]': 'x' }),
      true,
    )
    assert.equal(check({ ...payment, 'threeDSecure.schemeData[CB-USECASE]': '01' }), true)
    assert.equal(check({ ...payment, 'card.colour': 'red' }), false)
    assert.equal(check({ ...payment, 'card.number': 'x' }), false)
    assert.equal(check({ currency: 'EUR', paymentType: 'DB' }), false)
  })

  it('the document has no example of account data', () => {
    const schemas: Record<string, { properties?: Record<string, { examples?: unknown }> }> =
      document.components.schemas
    for (const name of [...panFields, ...sadFields]) {
      for (const { properties } of Object.values(schemas))
        assert.equal(properties?.[name]?.examples, undefined, name)
    }
  })
})

describe('the classes', () => {
  it('the classes include every field and every alternative name', () => {
    for (const { name, options } of groups.flatMap(({ fields }) => fields)) {
      for (const one of [name, ...(options.aliases ?? [])]) assert.ok(fieldClasses[one], one)
    }
    assert.equal(fieldClasses['card.number'], 'pan')
    assert.equal(fieldClasses['card.cvv'], 'sad')
    assert.ok(
      panFields.includes('bankAccount.iban') && sadFields.includes('threeDSecure.verificationId'),
    )
  })

  it('the classes use the stricter one where two tables differ', () => {
    const one = group('', 'One', [['x', N(3), O, request, sad, 'x']])
    const other = group('', 'Other', [
      ['x', N(3), O, request, pan, 'x'],
      ['y', N(3), O, request, none, 'x'],
    ])
    for (const tables of [
      [one, other],
      [other, one],
    ]) {
      assert.deepEqual(
        [...classesOf(tables)],
        [
          ['x', 'sad'],
          ['y', 'none'],
        ],
      )
    }
  })
})

describe('the reference page', async () => {
  const { html: page, contentSecurityPolicy } = await reference()

  it('the page is the committed one', () => assert.ok(page === read('reference.html')))

  it('the page has every field, result code, brand and endpoint', () => {
    for (const { name, fields } of groups) {
      const table = page.slice(
        page.indexOf(`<section id="table-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}"`),
      )
      const section = table.slice(0, table.indexOf('</section>'))
      for (const field of fields)
        assert.ok(section.includes(`<code>${field.name}</code>`), `${name}: ${field.name}`)
    }
    for (const [code] of results) assert.ok(page.includes(`id="result.${code}"`), code)
    for (const { code } of brands) assert.ok(page.includes(`id="brand.${code}"`), code)
    for (const { operation } of endpoints)
      assert.ok(page.includes(`id="endpoint.${operation}"`), operation)
  })

  it('every id on the page is unique, and every link has its target', () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length)
    const markup = page.slice(0, page.indexOf('<script>'))
    for (const [, id] of markup.matchAll(/href="#([^"]+)"/g)) assert.ok(ids.includes(id), id)
  })

  it('the page loads nothing from elsewhere', () => {
    assert.doesNotMatch(page, /<link|<img|<iframe| src=|@import|url\(/)
    assert.doesNotMatch(page, /href="(?!#)/)
  })

  it('the page works under its own content security policy', () => {
    for (const kind of ['style', 'script']) {
      const [, text = ''] = new RegExp(`<${kind}>([\\s\\S]*?)</${kind}>`).exec(page) ?? []
      const hash = createHash('sha256').update(text).digest('base64')
      assert.ok(contentSecurityPolicy.includes(`${kind}-src 'sha256-${hash}'`))
    }
    assert.doesNotMatch(page, / style="| on[a-z]+="/)
  })

  it('the page escapes the texts of the tables', () => {
    assert.equal(html`<p>${`<b>&"'`}</p>`.html, '<p>&lt;b&gt;&amp;&quot;&#39;</p>')
    assert.equal(html`${[html`<i>${'<'}</i>`, '<']}`.html, '<i>&lt;</i>&lt;')
  })

  it('the page shows texts in backticks as code, and no backtick', () => {
    assert.equal(
      prose('Sent as `card.number`, `<b>` or not.').html,
      'Sent as <code>card.number</code>, <code>&lt;b&gt;</code> or not.',
    )
    assert.equal(prose('One ` alone stays.').html, 'One ` alone stays.')
    const markup = page.slice(page.indexOf('</style>'), page.indexOf('<script>'))
    assert.doesNotMatch(markup, /`/)
  })

  it('the page has a script that a browser can parse', () => {
    const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(page) ?? []
    assert.doesNotThrow(() => new Function(script))
  })
})

describe('the TypeScript types', () => {
  it('the types let an embedder write exactly the fields of the tables', () => {
    const types = read('types.ts')
    assert.match(types, /export interface PaymentsCreateRequest \{/)
    assert.match(types, /card\?: Card\n/)
    assert.match(types, /number: string\n/)
    assert.match(types, /createRegistration\?: boolean \| 'true' \| 'false'/)
    assert.match(types, /'payments\.create': PaymentsCreateRequest/)
    for (const name of operations().keys()) assert.ok(types.includes(`'${name}': `), name)
  })
})

it('importing the package builds none of the large texts', () => {
  const program = `
    import { registerHooks } from 'node:module'
    const seen = []
    registerHooks({ load(url, context, next) { seen.push(url); return next(url, context) } })
    await import('@tollgate/schemas')
    console.log(JSON.stringify(seen))`
  const args = ['--conditions=@tollgate/source', '--input-type=module', '--eval', program]
  const loaded: string[] = JSON.parse(
    execFileSync(process.execPath, args, {
      encoding: 'utf8',
      cwd: join(import.meta.dirname, '../../core'),
    }),
  )
  assert.ok(loaded.some((url) => url.endsWith('schemas/index.ts')))
  for (const lazy of [
    'open-api.ts',
    'reference.ts',
    'reference-style.ts',
    'types.ts',
    'generate/generate.ts',
  ]) {
    assert.ok(!loaded.some((url) => url.endsWith(`/${lazy}`)), lazy)
  }
})
