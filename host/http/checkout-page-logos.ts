/** The marks of brands, as far as the widget has them: drawn in the page, which loads nothing. */
import { assets } from '@tollgate/widget'
import { Html, html } from './html.ts'

const most = 5
const known = new Map<string, Html>()

/** Undefined: a brand without a mark. The text beside it says the same, so it is for eyes alone. */
export function logoOf(brand: string): Html | undefined {
  const file = assets.files.find(({ name }) => name === `brand-${brand}.svg`)
  if (file === undefined) return undefined
  const found = known.get(brand) ?? new Html(forEyes(file.bytes.toString('utf8')))
  known.set(brand, found)
  return found
}

const forEyes = (svg: string): string =>
  svg.replace('<svg ', '<svg class="logo" aria-hidden="true" focusable="false" ')

export const logosOf = (brands: readonly string[]): Html =>
  html`<span class="logos">${brands
    .map(logoOf)
    .filter((logo) => logo !== undefined)
    .slice(0, most)}</span>`
