import type { PageReply } from '@tollgate/plugin-kit'
import type { Language } from './language.ts'
import { contentSecurityPolicy, style } from './style.ts'

/** Text that is HTML already. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | undefined | readonly Html[]

/** HTML in which every value is text, unless it is HTML itself. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const written = strings.map((text, index) =>
    index === 0 ? text : shown(parts[index - 1]) + text,
  )
  return new Html(written.join(''))
}

function shown(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) return part.map(({ text }: Html) => text).join('')
  return String(part).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const emblem = html`<svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round"><path d="M3 9.5 12 4l9 5.5H3ZM5.5 10v7M10 10v7M14 10v7M18.5 10v7M3.5 20h17M3.5 17h17"/></svg>`

/** A whole page, with the name of the bank and the notice that nothing is real. */
export function pageOf(
  { tag, direction, texts }: Language,
  page: {
    readonly status?: number
    readonly title: string
    /** The bank's own name, where it has one. */
    readonly bank?: string | undefined
    readonly content: Html
  },
): PageReply {
  const { status = 200, title, bank = texts.bank, content } = page
  const head = html`<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title><style>${new Html(style)}</style>`
  const body = html`<header class="test"><strong>TEST</strong><span>${texts.test}</span></header><main><div class="card"><p class="bank">${emblem}<span>${bank}</span></p><h1>${title}</h1>${content}</div></main>`
  const document = html`<!doctype html><html lang="${tag}" dir="${direction}"><head>${head}</head><body>${body}</body></html>`
  return { status, html: document.text, contentSecurityPolicy }
}

/** Names and values of a payment. A value keeps its own direction in a text from right to left. */
export function factsOf(
  facts: readonly (readonly [name: string, value: string, kind?: 'amount'])[],
): Html {
  const rows = facts.map(
    ([name, value, kind]) =>
      html`<div><dt>${name}</dt><dd${kind === undefined ? undefined : html` class="${kind}"`}><bdi>${value}</bdi></dd></div>`,
  )
  return html`<dl>${rows}</dl>`
}

/** A page without a question: a sentence, and the way on where there is one. */
export function sentencePage(
  language: Language,
  page: {
    readonly status?: number
    readonly title: string
    readonly bank?: string | undefined
    readonly text: string
    readonly back?: string | undefined
  },
): PageReply {
  const { back } = page
  const link =
    back === undefined
      ? undefined
      : html`<a class="button" href="${back}">${language.texts.back}</a>`
  return pageOf(language, { ...page, content: html`<p>${page.text}</p>${link}` })
}

export const missingPage = (language: Language): PageReply =>
  sentencePage(language, {
    status: 404,
    title: language.texts.missing,
    text: language.texts.missingText,
  })
