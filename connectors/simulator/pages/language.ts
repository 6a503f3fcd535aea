import { currencyOf } from '@tollgate/schemas'
import { texts as ar } from './languages/ar.ts'
import { texts as bg } from './languages/bg.ts'
import { texts as cs } from './languages/cs.ts'
import { texts as da } from './languages/da.ts'
import { texts as de } from './languages/de.ts'
import { texts as el } from './languages/el.ts'
import { texts as en } from './languages/en.ts'
import { texts as es } from './languages/es.ts'
import { texts as fi } from './languages/fi.ts'
import { texts as fr } from './languages/fr.ts'
import { texts as hu } from './languages/hu.ts'
import { texts as it } from './languages/it.ts'
import { texts as ja } from './languages/ja.ts'
import { texts as ko } from './languages/ko.ts'
import { texts as nb } from './languages/nb.ts'
import { texts as nl } from './languages/nl.ts'
import { texts as pl } from './languages/pl.ts'
import { texts as pt } from './languages/pt.ts'
import { texts as ro } from './languages/ro.ts'
import { texts as ru } from './languages/ru.ts'
import { texts as sk } from './languages/sk.ts'
import { texts as sl } from './languages/sl.ts'
import { texts as sv } from './languages/sv.ts'
import { texts as tr } from './languages/tr.ts'
import { texts as zhCN } from './languages/zh-CN.ts'
import type { Texts } from './texts.ts'

/** A language of the pages, named by its BCP 47 tag. */
export type Language = {
  readonly tag: string
  readonly direction: 'ltr' | 'rtl'
  readonly texts: Texts
}

const textsByTag: Readonly<Record<string, Texts>> = {
  en,
  de,
  fr,
  es,
  it,
  nl,
  da,
  fi,
  sv,
  tr,
  ja,
  sl,
  pt,
  pl,
  cs,
  hu,
  bg,
  ro,
  ru,
  'zh-CN': zhCN,
  el,
  nb,
  sk,
  ar,
  ko,
}

export const languages: readonly Language[] = Object.entries(textsByTag).map(([tag, texts]) => ({
  tag,
  direction: tag === 'ar' ? 'rtl' : 'ltr',
  texts,
}))

const english = languages[0]!

/** Codes of merchants and browsers that are no tag of ours: countries, and languages of one family. */
const others: Readonly<Record<string, string>> = {
  cn: 'zh-CN',
  zh: 'zh-CN',
  cz: 'cs',
  dk: 'da',
  gr: 'el',
  nn: 'nb',
  no: 'nb',
  se: 'sv',
}

/** Languages that a header can name; further ones are not looked at. */
const mostWishes = 20

/** The first language of ours that somebody wishes. English when none is. */
export function languageFor(wishes: readonly (string | undefined)[]): Language {
  for (const wish of wishes) {
    for (const tag of wish === undefined ? [] : tagsOf(wish)) {
      const family = tag.split(/[-_]/, 1)[0]!.toLowerCase()
      const known = others[family] ?? family
      const found = languages.find((language) => language.tag === known)
      if (found !== undefined) return found
    }
  }
  return english
}

/** The tags of an Accept-Language header, or the one tag of another wish, the most wanted first. */
function tagsOf(wish: string): readonly string[] {
  const parts = wish.split(',', mostWishes).map((part) => {
    const [tag = '', ...parameters] = part.split(';')
    const weight = parameters.find((parameter) => parameter.trim().startsWith('q='))
    return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight.trim().slice(2)) }
  })
  return parts
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag)
}

/** `9200` minor units of EUR as `92,00 €` in German, exactly and with Latin digits. */
export function amountIn(
  { tag }: Language,
  { minor, currency }: { readonly minor: bigint; readonly currency: string },
): string {
  const digits = currencyOf(currency)?.exponent ?? 2
  const text = String(minor).padStart(digits + 1, '0')
  const whole = text.slice(0, text.length - digits)
  const value = digits === 0 ? text : `${whole}.${text.slice(-digits)}`
  const format = new Intl.NumberFormat(`${tag}-u-nu-latn`, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  // The decimal text keeps every digit; a number would round beyond 15 of them.
  return format.format(value as Intl.StringNumericLiteral)
}
