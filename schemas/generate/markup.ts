/** Text that is HTML already. */
export class Markup {
  readonly html: string
  constructor(html: string) {
    this.html = html
  }
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

type Part = Markup | string | number | readonly Part[]

function render(part: Part): string {
  if (part instanceof Markup) return part.html
  if (typeof part === 'object') return part.map(render).join('')
  return String(part).replace(/[&<>"']/g, (character) => escapes[character] as string)
}

/** HTML with all inserted values escaped, except results of this function. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(String.raw({ raw: strings }, ...parts.map(render)))
}

/** Text of the tables, whose parts in backticks are code. */
export const prose = (text: string): Markup =>
  html`${text
    .split(/`([^`]+)`/)
    .map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`
