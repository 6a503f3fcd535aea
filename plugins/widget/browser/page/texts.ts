import { languageTags } from '../../languages.ts'
import type { Texts } from '../../texts/types.ts'
import { assetAddress } from './assets.ts'
import type { Options } from './options.ts'

export type Language = {
  readonly code: string
  /** BCP 47, as `lang` and for Intl. */
  readonly tag: string
  readonly direction: 'ltr' | 'rtl'
  readonly texts: Texts
}

/** The code of the first wish that the widget speaks: its own codes, then language tags. */
export function languageCode(wishes: readonly (string | null | undefined)[]): string {
  for (const wish of wishes) {
    const wanted = wish?.toLowerCase().replace('_', '-') ?? ''
    const [language = ''] = wanted.split('-')
    for (const candidate of [wanted, language]) {
      if (candidate in languageTags) return candidate
      const known = Object.entries(languageTags).find(
        ([, tag]) => tag.toLowerCase() === candidate || tag.split('-')[0] === candidate,
      )
      if (known !== undefined) return known[0]
      if (candidate === 'nn') return 'no'
    }
  }
  return 'en'
}

export async function loadLanguage(
  code: string,
  base: string,
  options: Options,
): Promise<Language> {
  const response = await fetch(assetAddress(base, `texts-${code}.json`), { credentials: 'omit' })
  if (!response.ok) throw new Error(`texts of ${code}: ${response.status}`)
  const texts = (await response.json()) as Texts
  const tag = languageTags[code] ?? 'en'
  return {
    code,
    tag,
    direction: code === 'ar' ? 'rtl' : 'ltr',
    texts: {
      ...texts,
      labels: { ...texts.labels, ...wordsOf(options.labels) },
      errors: { ...texts.errors, ...wordsOf(options.errorMessages) },
    },
  }
}

function wordsOf(words: Readonly<Record<string, unknown>> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(words ?? {}).filter(
      (pair): pair is [string, string] => typeof pair[1] === 'string',
    ),
  )
}

/** Replaces the words in braces. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all)
}

export function formatAmount(amount: string, currency: string, tag: string): string {
  try {
    return new Intl.NumberFormat(tag, { style: 'currency', currency }).format(Number(amount))
  } catch {
    return `${amount} ${currency}`
  }
}
