import { html, type Markup } from './markup.ts'

/** One entry of the page's menu. */
export type Section = { id: string; title: string; rows: number; body: Markup }

export const idOf = (name: string) => name.toLowerCase().replace(/[^a-z0-9]+/g, '-')

export const table = (
  columns: readonly string[],
  rows: readonly Markup[],
) => html`<div class="scroll"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table></div>`
