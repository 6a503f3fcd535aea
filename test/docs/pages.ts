/** The pages that people read, and the parts of their text. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { handwritten, root } from '../rig/sources.ts'

export type Page = { readonly file: string; readonly text: string }

/** Every page of the repository. */
export const pages: readonly Page[] = handwritten()
  .filter((file) => file.endsWith('.md'))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))

export const pageOf = (file: string): string => pages.find((page) => page.file === file)!.text

/** Text in backticks, in lines and in fenced blocks. */
export function codeIn(text: string): string[] {
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block]) =>
    block!.split('\n'),
  )
  const prose = text.replaceAll(/^```\w*\n[\s\S]*?^```/gm, '')
  return [...blocks, ...[...prose.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!)]
}

/** Rows of the first table below a heading, without its head; each a list of cells. */
export function rowsBelow(text: string, heading: string): string[][] {
  const from = text.indexOf(`\n${heading}\n`)
  if (from === -1) return []
  const rest = text.slice(from + heading.length + 2)
  const next = rest.search(/^#{1,6} /m)
  return (next === -1 ? rest : rest.slice(0, next))
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map(cellsOf)
}

/** Rows of all tables of a page, heads among them. */
export const allRows = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map(cellsOf)

const cellsOf = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((text) => text.trim())

/** Anchors of the headings of a page, as the usual renderers make them. */
export const anchorsIn = (text: string): string[] =>
  [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  )

/** Links of a page that lead nowhere. */
export function brokenLinks({ file, text }: Page): string[] {
  const prose = text.replaceAll(/^```\w*\n[\s\S]*?^```/gm, '')
  return [...prose.matchAll(/\]\(([^)]+)\)/g)].flatMap(([, target]) => {
    if (/^[a-z]+:/.test(target!)) return []
    const [to = '', anchor] = target!.split('#')
    const linked = to === '' ? file : path.posix.join(path.posix.dirname(file), to)
    if (!existsSync(path.join(root, linked))) return [`${file}: there is no ${target}`]
    if (anchor === undefined) return []
    const page = linked === file ? text : readFileSync(path.join(root, linked), 'utf8')
    return anchorsIn(page).includes(anchor) ? [] : [`${file}: there is no heading ${target}`]
  })
}
