/** Regular expressions of the product: every literal of its sources, and every pattern of the tables. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, sources } from '../rig/sources.ts'
import { allFields, formatsIn } from '../rig/table-look-up.ts'

export type Literal = {
  /** `core/ids.ts:46`, or the names of the tables. */
  readonly where: string
  readonly source: string
  readonly flags: string
}

/** Packages that run in production. The suite for connector authors in them does not. */
const folders = ['schemas', 'plugins/kit', 'core', 'connectors', 'host']
const isTool = /\/(?:testing|sandbox|dist|generated)\//

export function productLiterals(): Literal[] {
  return folders
    .flatMap(sources)
    .filter(({ file }) => !isTool.test(file))
    .flatMap(({ file }) => literalsIn(readFileSync(join(root, file), 'utf8'), file))
}

export function tablePatterns(): Literal[] {
  const patterns = new Map<string, string>()
  for (const { field } of allFields) {
    const own = formatsIn(field.format).flatMap((format) =>
      format.kind === 'pattern' ? [format.pattern] : [],
    )
    for (const pattern of [...own, ...(field.options.key ? [field.options.key.pattern] : [])]) {
      patterns.set(pattern, field.name)
    }
  }
  return [...patterns].map(([pattern, where]) => ({
    where,
    source: `^(?:${pattern})$`,
    flags: 'u',
  }))
}

/** The literals in a source of TypeScript. */
export function literalsIn(text: string, file: string): Literal[] {
  const found: Literal[] = []
  // Depths of braces at which a template goes on.
  const templates: number[] = []
  let braces = 0
  let before = ''
  let line = 1
  for (let at = 0; at < text.length; ) {
    const token = nextToken(text, at, mayBeginLiteral(before), templates.at(-1) === braces)
    const word = text.slice(at, at + token.length)
    if (token.kind === 'regex') {
      const end = word.lastIndexOf('/')
      found.push({
        where: `${file}:${line}`,
        source: word.slice(1, end),
        flags: word.slice(end + 1),
      })
    }
    if (token.kind === 'template' && word.endsWith('${')) {
      if (word.startsWith('`')) templates.push(braces)
    } else if (token.kind === 'template' && word.startsWith('}')) templates.pop()
    else if (word === '{') braces += 1
    else if (word === '}') braces -= 1
    if (token.kind !== 'blank')
      before = token.kind === 'template' && word.endsWith('${') ? '{' : word
    line += word.split('\n').length - 1
    at += token.length
  }
  return found
}

type Token = { readonly kind: 'blank' | 'regex' | 'template' | 'other'; readonly length: number }

const blank = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y
const regex = /\/(?:\[(?:\\.|[^\]\\\n])*\]|\\.|[^/[\\\n])+\/[a-z]*/y
const text = /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y
const template = /`(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y
const templateGoesOn = /\}(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y
const name = /[\p{ID_Start}$_#@][\p{ID_Continue}$]*|\d[\w.]*/uy

function nextToken(from: string, at: number, mayBeRegex: boolean, inTemplate: boolean): Token {
  const lengthOf = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(from)?.[0].length ?? 0
  }
  const kinds: [Token['kind'], RegExp, boolean][] = [
    ['blank', blank, true],
    ['regex', regex, mayBeRegex],
    ['other', text, true],
    ['template', template, true],
    ['template', templateGoesOn, inTemplate],
    ['other', name, true],
  ]
  for (const [kind, pattern, fits] of kinds) {
    const length = fits ? lengthOf(pattern) : 0
    if (length > 0) return { kind, length }
  }
  return { kind: 'other', length: 1 }
}

/** After a value a slash divides. */
function mayBeginLiteral(before: string): boolean {
  if (/^(?:return|typeof|case|in|of|await|yield|new|void|else)$/.test(before)) return true
  return !/[\p{ID_Continue}$)\]'"`]$/u.test(before)
}
