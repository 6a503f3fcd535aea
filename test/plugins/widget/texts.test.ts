/** Every language of the widget says everything, in its own words. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { formatAmount } from '../../../plugins/widget/browser/page/texts.ts'
import en from '../../../plugins/widget/texts/en.ts'
import {
  directionOf,
  languageCodes,
  languageNames,
  languageOf,
  tagOf,
  wishesIn,
} from '../../../plugins/widget/texts/languages.ts'
import type { Texts } from '../../../plugins/widget/texts/types.ts'

const folder = join(import.meta.dirname, '../../../plugins/widget/texts')

/** Words that are the same in several languages. */
const international = new Set(['labels.accountIban', 'labels.expiryDatePlaceholder'])
const sameAsEnglish: { readonly [code: string]: readonly string[] } = {
  nl: ['labels.postcode'],
  ro: ['page.card'],
}

/** Letters that a text of the language has, unless they are of a name such as IBAN. */
const letters: { readonly [code: string]: RegExp } = {
  ja: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
  bg: /\p{Script=Cyrillic}/u,
  ru: /\p{Script=Cyrillic}/u,
  cn: /\p{Script=Han}/u,
  gr: /\p{Script=Greek}/u,
  ar: /\p{Script=Arabic}/u,
  ko: /\p{Script=Hangul}/u,
}

const flat = (texts: Texts): [name: string, text: string][] =>
  Object.entries(texts).flatMap(([group, all]) =>
    Object.entries(all).map(([name, text]): [string, string] => [`${group}.${name}`, text]),
  )
const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()

const loaded = new Map<string, Texts>()
for (const code of languageCodes) {
  const module: { default: Texts } = await import(join(folder, `${code}.ts`))
  loaded.set(code, module.default)
}

describe('languages of the widget', () => {
  test('there are 25, each with a file, a tag, a name and a direction', () => {
    assert.equal(new Set(languageCodes).size, 25)
    const files = readdirSync(folder).map((name) => name.replace('.ts', ''))
    assert.deepEqual(
      files.filter((name) => !['types', 'languages', 'load'].includes(name)).sort(),
      [...languageCodes].sort(),
    )
    for (const code of languageCodes) {
      const [tag] = Intl.getCanonicalLocales(tagOf(code))
      assert.deepEqual(Intl.DateTimeFormat.supportedLocalesOf(tag), [tag], code)
      assert.equal(directionOf(code), code === 'ar' ? 'rtl' : 'ltr')
      const own = new Intl.DisplayNames(tag, { type: 'language' }).of(tagOf(code).slice(0, 2)) ?? ''
      const name = languageNames[code].toLowerCase()
      assert.ok(name.includes(own.slice(0, 2).toLowerCase()), `${code}: ${own}`)
    }
  })

  test('a page may ask by the old codes and by language tags', () => {
    for (const [wish, code] of [
      ['dk', 'dk'],
      ['da', 'dk'],
      ['da-DK', 'dk'],
      ['sv_SE', 'se'],
      ['SV', 'se'],
      ['cs', 'cz'],
      ['zh-Hans-CN', 'cn'],
      ['zh', 'cn'],
      ['el-GR', 'gr'],
      ['nb-NO', 'no'],
      ['nn', 'no'],
      ['no', 'no'],
      ['de-AT', 'de'],
      ['ar-EG', 'ar'],
      // The tag of Northern Sami is no Swedish, and Slovenian has its own.
      ['sl', 'sl'],
      ['xx', 'en'],
      ['', 'en'],
      ['constructor', 'en'],
    ] as const) {
      assert.equal(languageOf([wish]), code, wish)
    }
    assert.equal(languageOf(['xx', 'fr']), 'fr')
    assert.equal(languageOf([]), 'en')
  })

  test('the dearest wish of a browser comes first', () => {
    assert.deepEqual(wishesIn('fr-CH, fr;q=0.9, en;q=0.8, de;q=0.95, *;q=0, xx;q=zero'), [
      'fr-CH',
      'de',
      'fr',
      'en',
    ])
    assert.deepEqual(wishesIn(''), [])
  })

  for (const [code, texts] of loaded) {
    test(`${code} is complete and its own`, () => {
      const english = flat(en)
      assert.deepEqual(
        flat(texts).map(([name]) => name),
        english.map(([name]) => name),
      )
      const wordsOf = new Map(english)
      for (const [name, text] of flat(texts)) {
        const at = `${code} ${name}: ${text}`
        assert.deepEqual(placeholders(text), placeholders(wordsOf.get(name)!), at)
        assert.equal(text, text.trim(), at)
        assert.ok(text.length > 0 && text.length < 420, at)
        // Typographic apostrophes and quotes; markup would be shown as it is.
        assert.doesNotMatch(text, /['"<>&]| {2}|\.\.\./, at)
        if (international.has(name)) continue
        if (code !== 'en' && sameAsEnglish[code]?.includes(name) !== true) {
          assert.notEqual(text, wordsOf.get(name), at)
        }
        if (letters[code] !== undefined) assert.match(text, letters[code], at)
      }
      assert.match(texts.labels.expiryDatePlaceholder, /^\p{L}{2} \/ \p{L}{2}$/u)
      assert.ok(texts.messages.paid !== texts.messages.declined)
    })

    test(`${code} takes at most 3 kB on the way`, () => {
      assert.ok(gzipSync(JSON.stringify(texts)).length <= 3 * 1024)
    })
  }

  test('no two languages say the same', () => {
    const all = [...loaded]
    for (const [at, [code, texts]] of all.entries()) {
      for (const [other, others] of all.slice(at + 1)) {
        const words = new Map(flat(others))
        const same = flat(texts).filter(([name, text]) => words.get(name) === text)
        assert.ok(same.length < 20, `${code} ${other}: ${same.map(([name]) => name).join(' ')}`)
      }
    }
  })
})

describe('amounts of the widget', () => {
  for (const [currency, amount, shown] of [
    ['HUF', '1234.56', 'HUF\u00a01,234.56'],
    ['HUF', '1234.00', 'HUF\u00a01,234'],
    ['JPY', '92.00', '¥92'],
    ['KWD', '9.25', 'KWD\u00a09.250'],
  ] as const) {
    test(`${amount} ${currency} is shown as it is charged`, () => {
      assert.equal(formatAmount(amount, currency, 'en'), shown)
    })
  }
})
