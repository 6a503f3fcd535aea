import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { GatewayError } from '../../../core/errors.ts'
import type { RequestInput } from '../../../core/request/decode.ts'
import { parseRequest, warm } from '../../../core/request/parse.ts'
import { limits, operationNamed, sadFields } from '../../../schemas/index.ts'
import { inScope } from '../../rig/scope.ts'
import { workedMs } from '../../rig/worked.ts'

const known = operationNamed('payments.create').fields.map(({ name }) => name)

/** A name that an attacker would try. */
const hostileName = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    '__proto__.x',
    'card.__proto__',
    'card.constructor.prototype.x',
    'cart.items[__proto__].name',
    'customParameters[__proto__]',
    'customParameters[constructor]',
    'toString',
    'hasOwnProperty',
    'then',
    'card',
    'cart',
    'cart.items',
    'cart.items[0]',
    'cart.items[]',
    'cart.items[-1].name',
    'cart.items[1001].name',
    'cart.items[99999999999].name',
    'cart.items[1e3].name',
    'cart.items[0].name.x',
    'airline.passengers[99].legs[99].taxAmount',
    'airline.passengers[100].name',
    '[',
    ']',
    '[]',
    '[0]',
    '.',
    '..',
    'card..number',
    '.card.number',
    'card.number.',
    'card[number]',
    'CARD.NUMBER',
    'card.numbre',
    'entityID',
    'authentication.entityId',
    'threeDSecure.xid',
    'registrations[0].id',
    'a'.repeat(257),
    'a.'.repeat(100),
    'cart.items['.repeat(50),
    '\u0000',
    'a\u0000b',
    '%',
    '%00',
    `customParameters[${'9'.repeat(64)}]`,
    '4200000000000000',
    'customParameters[a]',
    'merchant.data[../../etc]',
    '\u202e',
    '',
  ),
  fc.constantFrom(...known).map((name) => name.replaceAll('[n]', '[0]').replace('[name]', '[abc]')),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
)

const hostileValue = fc.oneof(
  fc.constantFrom(
    '1e3',
    '-1',
    '0.001',
    '123456789012',
    '0',
    '00.00',
    'NaN',
    'Infinity',
    '१२',
    '1,00',
    '92.00',
    'EUR',
    'DB',
    'true',
    'null',
    'undefined',
    '[object Object]',
    '__proto__',
    '\u0000',
    'a\u0000b',
    '\r\n',
    '\u001b[31m',
    '\ufeff',
    '\u2028',
    '<script>',
    "' or 1=1 --",
    '{{7*7}}',
    '../../../etc/passwd',
    '4200000000000000',
    '2023-02-29',
    '9999-99-99',
    'http://[',
    'https://a@b:c',
    'x'.repeat(5000),
    '🏔'.repeat(2000),
    '{"a":1}',
    '%00',
    '%',
    ' ',
    '',
  ),
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
)

/** Correct encoding, none, or truncated encoding. */
const encoded = (text: fc.Arbitrary<string>) =>
  fc
    .tuple(text, fc.constantFrom('right', 'none', 'cut', 'latin1', 'surrogate'))
    .map(([one, how]) => {
      const right = encodeURIComponent(one.toWellFormed())
      if (how === 'right') return Buffer.from(right)
      if (how === 'none') return Buffer.from(one)
      if (how === 'latin1') return Buffer.from(one, 'latin1')
      return Buffer.from(how === 'cut' ? `${right}%C3` : `${right}%ED%A0%80`)
    })

const hostileForm = fc
  .array(
    fc.tuple(
      encoded(hostileName),
      fc.constantFrom('=', '=', '=', '==', '', '&'),
      encoded(hostileValue),
    ),
    { maxLength: 30 },
  )
  .map((pairs) => ({
    form: Buffer.concat(
      pairs.flatMap(([name, is, value]) => [name, Buffer.from(is), value, Buffer.from('&')]),
    ),
  }))

const hostileQuery = hostileForm.map(({ form }) => ({ query: form.toString('latin1') }))

const { tree: hostileTree } = fc.letrec<{ tree: unknown; leaf: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6, depthSize: 'small' },
    tie('leaf'),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.array(fc.tuple(hostileName, tie('tree')), { maxLength: 5 }).map(ownMembers),
  ),
  leaf: fc.oneof(hostileValue, fc.boolean(), fc.double(), fc.constant(null), fc.constant('\ud800')),
}))

/** An object with an own member called `__proto__`, as a JSON parser makes it. */
function ownMembers(members: readonly (readonly [string, unknown])[]): object {
  const made = {}
  for (const [name, value] of members) {
    Object.defineProperty(made, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return made
}

const hostileJson = fc.oneof(
  hostileTree.map((tree) => ({ json: Buffer.from(JSON.stringify(tree)) })),
  fc
    .tuple(hostileTree, fc.nat(), fc.constantFrom('', '}', '"', '\\', ',', '\u0000', '1'))
    .map(([tree, at, put]) => {
      const text = JSON.stringify(tree)
      const place = at % (text.length + 1)
      return { json: Buffer.from(text.slice(0, place) + put + text.slice(place + 1)) }
    }),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => ({ json: bytes })),
)

const hostile: fc.Arbitrary<RequestInput> = fc.oneof(
  hostileForm,
  hostileForm,
  hostileQuery,
  hostileJson,
  hostileTree.map((values) => ({ values })),
)

/** Parses, or refuses with 400 and a safe answer. Anything else is a bug. */
function parsesOrRefuses(input: RequestInput): boolean {
  try {
    const { request } = parseRequest('payments.create' as string, input)
    assert.equal(Object.getPrototypeOf(request), null)
    return true
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    assert.equal(error.status, 400)
    assert.ok(error.parameterErrors.length <= 100)
    for (const { name, value, message } of error.parameterErrors) {
      assert.ok([...name].length <= 64 && !/\p{Nd}{9}|\p{Cc}/u.test(name), name)
      assert.ok(name.isWellFormed() && message.isWellFormed())
      assert.ok(!sadFields.includes(name) || value === undefined)
      assert.ok(value === undefined || !/\p{Cc}|[0-9]{13}/u.test(value), value)
    }
    return false
  }
}

describe('hostile requests', () => {
  it('hostile requests are parsed or refused with 400, each in a moment', () => {
    warm(['payments.create'])
    let slowest = 0
    const start = workedMs()
    fc.assert(
      fc.property(hostile, (input) => {
        const before = workedMs()
        parsesOrRefuses(input)
        slowest = Math.max(slowest, workedMs() - before)
      }),
      { numRuns: inScope(400, 5000) },
    )
    assert.ok(slowest < 250, `the slowest took ${slowest.toFixed(0)} ms`)
    assert.ok(workedMs() - start < 20_000)
    assert.equal(({} as Record<string, unknown>).x, undefined)
  })

  it('a parsed request can be encoded and parses to the same again', () => {
    const harmless = fc.constantFrom(...known.filter((name) => !name.includes('[')))
    const fields = fc.dictionary(harmless, hostileValue, { maxKeys: 6 })
    fc.assert(
      fc.property(fields, (some) => {
        const all = { amount: '1.00', currency: 'EUR', paymentType: 'DB', ...some }
        const form = Buffer.from(new URLSearchParams(all).toString())
        if (!parsesOrRefuses({ form })) return
        const { names, request } = parseRequest('payments.create' as string, { form })
        const again = Buffer.from(
          new URLSearchParams(
            names.map(([name, value]): [string, string] => [name, value]),
          ).toString(),
        )
        assert.deepEqual(
          parseRequest('payments.create' as string, { form: again }).request,
          request,
        )
      }),
      { numRuns: inScope(100, 1000) },
    )
  })
})

describe('the largest hostile bodies', () => {
  const largest = limits.bodyBytes
  const filled = (unit: string, before = '', after = '') => {
    const room = largest - Buffer.byteLength(before) - Buffer.byteLength(after)
    return Buffer.from(before + unit.repeat(Math.floor(room / Buffer.byteLength(unit))) + after)
  }
  const numbered = (make: (index: number) => string, between = '&') =>
    Buffer.from(Array.from({ length: 65_000 }, (_, index) => make(index)).join(between))
  const cases: Readonly<Record<string, RequestInput>> = {
    'separators only': { form: filled('&') },
    'names without values': { form: filled('a&') },
    'equals signs': { form: filled('=') },
    'one long name': { form: filled('a', '', '=1') },
    'one long value': { form: filled('9', 'amount=') },
    'plus signs': { form: filled('+', 'descriptor=') },
    'percent signs': { form: filled('%', 'descriptor=') },
    'encoded letters': { form: filled('%41', 'descriptor=') },
    'a long address': { form: filled('a.', 'shopperResultUrl=http://') },
    'many dates in one': { form: filled('2020-02-29', 'standingInstruction.expiry=') },
    'bytes that are no text': { form: Buffer.alloc(largest, 0xff) },
    'the same unknown name': { form: numbered((index) => `card.numbe${index % 10}xyzuvw=1`) },
    'near misses': { form: numbered((index) => `card.numbe${index}=1`) },
    'one name again and again': { form: numbered(() => 'amount=1') },
    'free keys': { form: numbered((index) => `customParameters[abc${index}]=${'x'.repeat(90)}`) },
    'opening brackets': { form: numbered(() => `${'['.repeat(100)}=1`) },
    'lists in lists': {
      form: numbered(
        (index) =>
          `airline.passengers[${index % 100}].legs[${((index / 100) % 100) | 0}].taxAmount=x`,
      ),
    },
    'JSON lists': { json: filled('[') },
    'JSON objects': { json: filled('{"a":') },
    'JSON blanks': { json: filled(' ', '{', '}') },
    'JSON numbers': { json: filled('1', '{"amount":', '}') },
    'JSON escapes': { json: filled('\\u0041', '{"descriptor":"', '"}') },
    'JSON backslashes': { json: filled('\\', '{"a":"') },
    'JSON names': { json: Buffer.from(`{${numbered((index) => `"k${index}":"1"`, ',')}}`) },
    'JSON elements': {
      json: Buffer.from(`{"cart":{"items":[${numbered(() => '{"price":"x"}', ',')}]}}`),
    },
  }
  for (const [what, input] of Object.entries(cases)) {
    it(`the largest hostile body is refused with little work: ${what}`, () => {
      warm(['payments.create'])
      const start = workedMs()
      assert.equal(parsesOrRefuses(input), false)
      const took = workedMs() - start
      // Far above the needed time, far below that of reading 2 MiB again for each parameter.
      assert.ok(took < 1500, `${took.toFixed(0)} ms`)
    })
  }
})

describe('patterns of the tables', () => {
  it('no pattern backtracks for long on the longest values of its field', () => {
    for (const { name, format } of operationNamed('payments.create').fields) {
      if (format.kind !== 'pattern') continue
      const whole = new RegExp(`^(?:${format.pattern})$`, 'u')
      for (const character of new Set([...format.example, ' ', 'a', '0'])) {
        const start = workedMs()
        whole.test(`${character.repeat(5000)}\u0000`)
        whole.test(`${format.example.repeat(500)}\u0000`)
        assert.ok(workedMs() - start < 100, name)
      }
    }
  })
})
