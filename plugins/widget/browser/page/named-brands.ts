const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

/** How a code of a brand looks, in contrast to other words that a page writes into its form. */
const isCode = (word: string): boolean => /^[A-Z][A-Z0-9_]+$/.test(word)

/**
 * The brands that the merchant's form names: by `data-brands`, else by its own text, as older pages
 * do. A text with other words, such as "Loading the form", names none.
 */
export function namedBrands(form: HTMLFormElement): readonly string[] {
  const listed = words(form.dataset.brands ?? '')
  if (listed.length > 0) return listed
  const texts = [...form.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
  const written = words(texts.map(({ nodeValue }) => nodeValue).join(' '))
  return written.every(isCode) ? written : []
}
