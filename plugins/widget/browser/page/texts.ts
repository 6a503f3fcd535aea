import { directionOf, type LanguageCode, tagOf } from '../../texts/languages.ts'
import type { Texts } from '../../texts/types.ts'
import { assetAddress } from './assets.ts'
import type { Options } from './options.ts'

export type Language = {
  readonly code: LanguageCode
  /** BCP 47, as `lang` and for Intl. */
  readonly tag: string
  readonly direction: 'ltr' | 'rtl'
  readonly texts: Pick<Texts, 'labels' | 'errors' | 'messages'>
}

export async function loadTexts(code: LanguageCode, base: string): Promise<Language['texts']> {
  const response = await fetch(assetAddress(base, `texts-${code}.json`), { credentials: 'omit' })
  if (!response.ok) throw new Error(`texts of ${code}: ${response.status}`)
  return (await response.json()) as Language['texts']
}

/** The texts with those of the page in their place. */
export function inLanguage(
  code: LanguageCode,
  texts: Language['texts'],
  options: Options,
): Language {
  return {
    code,
    tag: tagOf(code),
    direction: directionOf(code),
    texts: {
      ...texts,
      labels: { ...texts.labels, ...wordsOf(options.labels) },
      errors: { ...texts.errors, ...errorsOf(options) },
      messages: { ...texts.messages, ...wordsOf(options.errorMessages) },
    },
  }
}

/** Names that only pages fill: fields in frames have no placeholder of ours. */
const placeholders = ['cardNumberPlaceholder', 'cvvPlaceholder']

/** Says on the console which texts of the page are shown nowhere. */
export function nameUnknownTexts(texts: Language['texts'], options: Options): void {
  const known: { readonly [option: string]: readonly string[] } = {
    labels: [...Object.keys(texts.labels), ...placeholders],
    errorMessages: [
      ...Object.keys({ ...texts.errors, ...texts.messages }),
      'expiryMonthError',
      'expiryYearError',
    ],
  }
  for (const option of ['labels', 'errorMessages'] as const) {
    for (const name of Object.keys(options[option] ?? {})) {
      if (known[option]!.includes(name)) continue
      console.warn(`Tollgate widget: wpwlOptions.${option}.${name} has no effect`)
    }
  }
}

/** Deployed pages name month and year apart. */
function errorsOf({ errorMessages }: Options): Record<string, string> {
  const { expiryMonthError, expiryYearError = expiryMonthError, ...words } = wordsOf(errorMessages)
  return {
    ...(expiryMonthError === undefined ? {} : { expiryDateError: expiryMonthError }),
    ...(expiryYearError === undefined ? {} : { cardExpiredError: expiryYearError }),
    ...words,
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
    const style = { style: 'currency', currency } as const
    const usual = new Intl.NumberFormat(tag, style)
    // Browsers round amounts of some currencies that have cents, such as HUF.
    const { maximumFractionDigits: digits = 0 } = usual.resolvedOptions()
    const isWhole = Number.isInteger(Number(amount))
    const format =
      isWhole || digits >= 2
        ? usual
        : new Intl.NumberFormat(tag, { ...style, minimumFractionDigits: 2 })
    return format.format(Number(amount))
  } catch {
    return `${amount} ${currency}`
  }
}
