/** Loads the texts of one language. Each name is written out, so that bundlers find the files. */
import type { LanguageCode } from './languages.ts'
import type { Texts } from './types.ts'

const loaders: { readonly [Code in LanguageCode]: () => Promise<{ readonly default: Texts }> } = {
  en: () => import('./en.ts'),
  de: () => import('./de.ts'),
  fr: () => import('./fr.ts'),
  es: () => import('./es.ts'),
  it: () => import('./it.ts'),
  nl: () => import('./nl.ts'),
  dk: () => import('./dk.ts'),
  fi: () => import('./fi.ts'),
  se: () => import('./se.ts'),
  tr: () => import('./tr.ts'),
  ja: () => import('./ja.ts'),
  sl: () => import('./sl.ts'),
  pt: () => import('./pt.ts'),
  pl: () => import('./pl.ts'),
  cz: () => import('./cz.ts'),
  hu: () => import('./hu.ts'),
  bg: () => import('./bg.ts'),
  ro: () => import('./ro.ts'),
  ru: () => import('./ru.ts'),
  cn: () => import('./cn.ts'),
  gr: () => import('./gr.ts'),
  no: () => import('./no.ts'),
  sk: () => import('./sk.ts'),
  ar: () => import('./ar.ts'),
  ko: () => import('./ko.ts'),
}

export const loadTexts = async (language: LanguageCode): Promise<Texts> =>
  (await loaders[language]()).default
