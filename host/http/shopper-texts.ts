/** The texts that shoppers read on pages of the host, by language. */
import type { IncomingHttpHeaders } from 'node:http'
import {
  directionOf,
  type LanguageCode,
  languageOf,
  tagOf,
  wishesIn,
} from '@tollgate/widget/texts/languages'
import { loadTexts } from '@tollgate/widget/texts/load'
import type { Texts } from '@tollgate/widget/texts/types'

const loaded = new Map<LanguageCode, Promise<Texts>>()

export function textsOf(language: LanguageCode): Promise<Texts> {
  const texts = loaded.get(language) ?? loadTexts(language)
  loaded.set(language, texts)
  return texts
}

/** The language of the first wish, else the one that the browser prefers. */
export const languageFor = (
  headers: IncomingHttpHeaders,
  ...wishes: readonly (string | undefined)[]
): LanguageCode => languageOf([...wishes, ...wishesIn(headers['accept-language'] ?? '')])

/** Texts and their language, for a page that has no other setting. */
export type Spoken = {
  readonly texts: Texts
  readonly tag: string
  readonly direction: 'ltr' | 'rtl'
}

export async function spokenTo(headers: IncomingHttpHeaders): Promise<Spoken> {
  const language = languageFor(headers)
  return {
    texts: await textsOf(language),
    tag: tagOf(language),
    direction: directionOf(language),
  }
}
