/** A secret does not stay in a transcript, in whatever escape its characters are written. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { createScrubber } from '../../../core/redaction/scrub.ts'
import { workedMs } from '../../rig/worked.ts'

const hex = (character: string) => character.codePointAt(0)!.toString(16)
/** Spellings of a character. */
const ways: readonly ((character: string) => string)[] = [
  (character) => `&#${character.codePointAt(0)};`,
  (character) => `&#${String(character.codePointAt(0)).padStart(8, '0')};`,
  (character) => `&#x${hex(character)};`,
  (character) => `&#X${hex(character).toUpperCase().padStart(6, '0')};`,
  (character) => `\\u${hex(character).padStart(4, '0')}`,
  (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  (character) => character,
]

test('named entities of XML are decoded', () => {
  const scrubber = createScrubber()
  scrubber.know(`p'ss"w<rd>&co`)
  for (const text of [
    'p&apos;ss&quot;w&lt;rd&gt;&amp;co',
    `p'ss&quot;w&lt;rd>&amp;co`,
    'p&#39;ss&#34;w&#60;rd&#62;&#38;co',
    'p&#x27;ss&#x22;w&#x3C;rd&#x3e;&#x26;co',
    'p&amp;apos;ss&amp;quot;w&amp;lt;rd&amp;gt;&amp;amp;co',
  ]) {
    assert.equal(scrubber.scrub(`<a>${text}</a>`), '<a>[sensitive]</a>', text)
  }
})

test('a secret or card number is found in any escape and in nested escapes', () => {
  const secret = "tok'en-1847"
  const card = '4111111111111111'
  const way = fc.integer({ min: 0, max: ways.length - 1 })
  fc.assert(
    fc.property(fc.array(way, { minLength: 16, maxLength: 16 }), way, (chosen, outer) => {
      const scrubber = createScrubber()
      scrubber.know(secret)
      const written = (text: string) =>
        [...text].map((character, at) => ways[chosen[at % 16]!]!(character)).join('')
      const inside = `${written(secret)} | ${written(card)}`
      for (const text of [inside, [...inside].map((one) => ways[outer]!(one)).join('')]) {
        const shown = scrubber.scrub(`before ${text} after`)
        assert.match(shown, /\[sensitive\]/)
        for (const escaped of [written(secret), written(card), secret, card]) {
          assert.ok(!shown.includes(escaped), `${escaped} stays in ${shown}`)
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('fields with telling names inside an escaped document are found', () => {
  const scrubber = createScrubber()
  assert.doesNotMatch(scrubber.scrub('<soap>&lt;cvv&gt;847&lt;/cvv&gt;</soap>'), /847/)
  assert.doesNotMatch(scrubber.scrub('{"inner":"{\\"password\\":\\"hunter2\\"}"}'), /hunter2/)
})

test('text without secrets stays unchanged', () => {
  const scrubber = createScrubber()
  scrubber.know('a secret')
  for (const text of [
    '<name>O&apos;Neill &amp; Sons &#169;</name>',
    '{"text":"\\u00e4 \\"quoted\\" 100%"}',
    '5%off & more; &unknown; &#xffffffff;',
    '\\ud800 \\x',
  ]) {
    assert.equal(scrubber.scrub(text), text)
  }
})

test('a large text of escapes costs little time', () => {
  const scrubber = createScrubber()
  scrubber.know('canary')
  const startedMs = workedMs()
  for (const part of ['&#', '&#x0', '&amp;', '%2', '%25', '\\u', '\\u005c', '&amp;#38;']) {
    scrubber.scrub(part.repeat(16_384 / part.length))
  }
  assert.ok(workedMs() - startedMs < 2_000)
})
