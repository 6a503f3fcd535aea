/** The languages of the widget. Pages ask for them by codes that are older than BCP 47, such as `dk`. */
export type LanguageCode = (typeof languageCodes)[number]

export const languageCodes = [
  ...(['en', 'de', 'fr', 'es', 'it', 'nl', 'dk', 'fi', 'se', 'tr', 'ja', 'sl', 'pt'] as const),
  ...(['pl', 'cz', 'hu', 'bg', 'ro', 'ru', 'cn', 'gr', 'no', 'sk', 'ar', 'ko'] as const),
] as const

/** Codes that are no language tags. */
const tags: { readonly [Code in LanguageCode]?: string } = {
  dk: 'da',
  se: 'sv',
  cz: 'cs',
  cn: 'zh-CN',
  gr: 'el',
  no: 'nb',
}

/** Each in itself. */
export const languageNames: { readonly [Code in LanguageCode]: string } = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  it: 'Italiano',
  nl: 'Nederlands',
  dk: 'Dansk',
  fi: 'Suomi',
  se: 'Svenska',
  tr: 'Türkçe',
  ja: '日本語',
  sl: 'Slovenščina',
  pt: 'Português',
  pl: 'Polski',
  cz: 'Čeština',
  hu: 'Magyar',
  bg: 'Български',
  ro: 'Română',
  ru: 'Русский',
  cn: '简体中文',
  gr: 'Ελληνικά',
  no: 'Norsk',
  sk: 'Slovenčina',
  ar: 'العربية',
  ko: '한국어',
}

/** BCP 47, for `lang` and Intl. */
export const tagOf = (code: LanguageCode): string => tags[code] ?? code

export const directionOf = (code: LanguageCode): 'ltr' | 'rtl' => (code === 'ar' ? 'rtl' : 'ltr')

/** Norwegian has two written languages, and browsers of either may name the older tag. */
const sameLanguage: Readonly<Record<string, LanguageCode>> = { nn: 'no' }

/** The language of the first wish that is spoken here; wishes are codes or tags, `da`, `dk` or `da-DK`. */
export function languageOf(wishes: readonly (string | undefined)[]): LanguageCode {
  for (const wish of wishes) {
    const [language = ''] = (wish ?? '').trim().toLowerCase().split(/[-_]/)
    const code =
      languageCodes.find((one) => tagOf(one).split('-')[0] === language) ??
      languageCodes.find((one) => one === language) ??
      (Object.hasOwn(sameLanguage, language) ? sameLanguage[language] : undefined)
    if (code !== undefined) return code
  }
  return 'en'
}

/** The wishes of an Accept-Language header, the dearest first. */
export function wishesIn(header: string): string[] {
  return header
    .slice(0, 1000)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((one) => one.trim())
      const quality = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '1'
      return { tag, quality: Number(quality) || 0 }
    })
    .filter(({ tag, quality }) => tag !== '' && quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag)
}
