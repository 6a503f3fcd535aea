import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export const root = path.resolve(import.meta.dirname, '../..')

export type Source = {
  /** Path below the repository, with forward slashes. */
  readonly file: string
  readonly text: string
  /** The text without comments, so that prose is not taken for code. */
  readonly code: string
  /** Its imports: package names, and relative imports as paths below the repository. */
  readonly imports: readonly string[]
}

const skipped = new Set(['node_modules', 'dist', 'generated', '.git', '.tollgate'])

function* filesBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    if (skipped.has(entry.name)) continue
    const file = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(file)
    else if (entry.isFile()) yield file
  }
}

/** Every handwritten file of the repository below `folder`. */
export function handwritten(folder = ''): string[] {
  return [...filesBelow(folder)].sort()
}

/** TypeScript sources below `folder`. */
export function sources(folder: string): Source[] {
  return handwritten(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => {
      const text = readFileSync(path.join(root, file), 'utf8')
      const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|[^:'"`])\/\/.*$/gm, '$1')
      const imports = [...code.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, target]) =>
        target!.startsWith('.')
          ? path.posix.normalize(`${path.posix.dirname(file)}/${target}`)
          : target!,
      )
      return { file, text, code, imports }
    })
}
