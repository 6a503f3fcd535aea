/** Regular expressions of the product: every literal of its sources, and every pattern of the tables. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import jsTokens from 'js-tokens'
import { root, sources } from '../rig/sources.ts'
import { allFields, formatsIn } from '../rig/table-look-up.ts'

export type Literal = {
  /** `core/ids.ts:46`, or the names of the tables. */
  readonly where: string
  readonly source: string
  readonly flags: string
}

/** Packages that run in production. The generator and the suite for connector authors in them do not. */
const folders = ['schemas', 'plugins/kit', 'core', 'connectors', 'host']
const isTool = /\/(?:testing|sandbox|dist|generate|generated)\//

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
  let line = 1
  return [...jsTokens(text)].flatMap(({ type, value }) => {
    const where = `${file}:${line}`
    line += value.split('\n').length - 1
    if (type !== 'RegularExpressionLiteral') return []
    const end = value.lastIndexOf('/')
    return [{ where, source: value.slice(1, end), flags: value.slice(end + 1) }]
  })
}
