/** Tables of Markdown. */

export const code = (text: string) => (text === '' ? '' : `\`${text}\``)

/** A bar would end the cell, and `<id>` outside of code would be a tag. */
const cell = (text: string) =>
  text.replaceAll('|', '\\|').replaceAll(/(`[^`]*`)|</g, (found, quoted) => quoted ?? `\\${found}`)
const row = (...cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`

export const table = (head: readonly string[], rows: readonly (readonly string[])[]) => [
  row(...head),
  `|${'---|'.repeat(head.length)}`,
  ...rows.map((cells) => row(...cells)),
]
