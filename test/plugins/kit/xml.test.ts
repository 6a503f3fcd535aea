/** XML is read without entities of its own, and written so that every text arrives as it was. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { Sensitive } from '@tollgate/plugin-kit'
import { escapeXml, readXml, writeXml, xmlElement, xmlText } from '@tollgate/plugin-kit/xml'
import fc from 'fast-check'

const written = (root: Parameters<typeof writeXml>[0]): string =>
  writeXml(root)
    .map((part) => (Sensitive.is(part) ? String(part.reveal()) : part))
    .join('')

describe('reading XML', () => {
  test('elements, attributes, texts and CDATA are read', () => {
    const root = readXml(
      '<?xml version="1.0"?><s:Answer xmlns:s="urn:x"><Code a="1&amp;2"> 00 </Code><T><![CDATA[<&>]]>&lt;&#65;</T></s:Answer>',
    )
    assert.equal(root.name, 's:Answer')
    assert.equal(xmlText(root, 'Code'), '00')
    assert.equal(xmlElement(root, 'Code')?.attributes.a, '1&2')
    assert.equal(xmlText(root, 'T'), '<&><A')
    assert.equal(xmlText(root, 'T', 'Deeper'), undefined)
    assert.equal(xmlText(root, 'Nothing'), undefined)
  })

  test('a document type that only has an address is left out, and nothing is fetched', async (t) => {
    const asked: unknown[] = []
    const server = createServer((request) => asked.push(request.url)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const dtd = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.dtd`
    for (const id of [
      `SYSTEM "${dtd}"`,
      `PUBLIC "-//Bank//DTD 1//EN" "${dtd}"`,
      `SYSTEM '${dtd}' `,
    ]) {
      const root = readXml(
        `<?xml version="1.0"?>\n<!DOCTYPE answer ${id}>\n<answer><Code>00</Code></answer>`,
      )
      assert.equal(xmlText(root, 'Code'), '00')
    }
    await new Promise((soon) => setImmediate(soon))
    assert.deepEqual(asked, [])
  })

  const refused: Readonly<Record<string, string | Buffer>> = {
    'a document type with an entity': '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
    'an address and an entity': '<!DOCTYPE a SYSTEM "a.dtd" [<!ENTITY x SYSTEM "file:///x">]><a/>',
    'an empty document type of its own': '<!DOCTYPE a SYSTEM "a.dtd" []><a/>',
    'an entity of a document type elsewhere': '<!DOCTYPE a SYSTEM "a.dtd"><a>&x;</a>',
    'an empty document type': '<!DOCTYPE a><a/>',
    'an entity that nobody declared': '<a>&nbsp;</a>',
    'an element that does not end': '<a><b>1</b>',
    'another end than beginning': '<a><b>1</a></b>',
    'two roots': '<a/><b/>',
    'text behind the root': '<a/>x',
    'an attribute twice': '<a b="1" b="2"/>',
    'an ampersand that begins nothing': '<a>1 & 2</a>',
    'no element': '',
    'a page of HTML': '<html><body><br><p>Bad gateway</body></html>',
    JSON: '{"code":"00"}',
    'a control character': '<a>\u0001</a>',
    'bytes that are no UTF-8': Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e]),
    'an encoding that nobody knows': Buffer.from('<?xml version="1.0" encoding="x-none"?><a/>'),
    'a thousand nested elements': '<a>'.repeat(1000) + '</a>'.repeat(1000),
  }
  for (const [what, document] of Object.entries(refused)) {
    test(`${what} is refused without being quoted`, () => {
      assert.throws(
        () => readXml(document),
        (error: Error) => {
          assert.match(error.message, /^The XML cannot be read: .{5,60}\.$/)
          return true
        },
      )
    })
  }

  test('elements beyond the limit are refused', () => {
    const document = `<a>${'<b/>'.repeat(11)}</a>`
    assert.equal(readXml(document, { elements: 12 }).children.length, 11)
    assert.throws(() => readXml(document, { elements: 11 }), /more than 11 elements/)
  })

  test('the encoding of the declaration or of the byte order mark counts', () => {
    const latin = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>Zo\xeb</a>', 'latin1')
    assert.equal(readXml(latin).text, 'Zoë')
    const wide = Buffer.from('\ufeff<a>Łódź</a>', 'utf16le')
    assert.equal(readXml(wide).text, 'Łódź')
  })

  test('an element that is there twice is no answer to a question for one', () => {
    const root = readXml('<a><Code>00</Code><Code>05</Code></a>')
    assert.throws(() => xmlText(root, 'Code'), /2 elements Code/)
  })
})

describe('writing XML', () => {
  test('nodes, lists, attributes and absent values are written', () => {
    const text = written({
      Sale: {
        '@version': 2,
        Item: ['a', 'b'],
        None: undefined,
        Empty: '',
        In: { '@x': 'y', '#text': 7n },
      },
    })
    assert.equal(
      text,
      '<?xml version="1.0" encoding="UTF-8"?><Sale version="2"><Item>a</Item><Item>b</Item><Empty></Empty><In x="y">7</In></Sale>',
    )
  })

  test('any text that XML can hold arrives as it was, in elements and attributes', () => {
    const texts = fc.string({ unit: 'binary' }).filter((text) => {
      try {
        return typeof escapeXml(text) === 'string'
      } catch {
        return false
      }
    })
    fc.assert(
      fc.property(texts, texts, (inner, attribute) => {
        const root = readXml(written({ a: { '@b': attribute, c: inner, d: new Sensitive(inner) } }))
        assert.equal(root.attributes.b, attribute)
        assert.deepEqual(
          root.children.map(({ text }) => text),
          [inner, inner],
        )
      }),
    )
  })

  test('a secret is a part of its own, escaped and hidden', () => {
    const parts = writeXml({ Card: { Number: new Sensitive('4200<&') } })
    assert.deepEqual(
      parts.map((part) => (Sensitive.is(part) ? 'hidden' : part)),
      ['<?xml version="1.0" encoding="UTF-8"?><Card><Number>', 'hidden', '</Number></Card>'],
    )
    assert.equal((parts[1] as Sensitive).reveal(), '4200&lt;&amp;')
    assert.ok(!JSON.stringify(parts).includes('4200'))
  })

  test('what XML cannot hold is refused without being quoted', () => {
    assert.throws(
      () => written({ a: 'secret\u0000' }),
      /^Error: the text has a character that XML cannot hold$/,
    )
    assert.throws(() => written({ a: '\ud800' }), /cannot hold/)
    assert.throws(() => written({ 'a b': '1' }), /"a b" is no name/)
    assert.throws(() => written({ a: '1', b: '2' }), /exactly one root/)
    assert.throws(() => written({ a: ['1', '2'] }), /exactly one root/)
    assert.throws(() => written({}), /exactly one root/)
  })
})
