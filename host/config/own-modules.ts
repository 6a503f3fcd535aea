import { readFileSync, realpathSync } from 'node:fs'
// As a whole: an import by name would fail in old versions of Node before they get a sentence.
import * as nodeModule from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const esSyntax = /^[ \t]*(?:import\b[^(]|export\b)/m

/** URLs of the folders. */
const folders = new Set<string>()

/**
 * Lets Node load ES modules of the user's folder whatever the `type` of its package.json is: a
 * configuration says "export default" in a CommonJS project as well. Node still strips the types. Packages
 * in node_modules load as ever. The hook stays, because a configuration may import a part later.
 */
export function loadOwnModules(folder: string): void {
  const isFirst = folders.size === 0
  folders.add(pathToFileURL(`${realpathSync(folder)}/`).href)
  if (!isFirst) return
  nodeModule.registerHooks({
    load(url, context, next) {
      const isOwn = [...folders].some((own) => url.startsWith(own))
      const format = isOwn ? formatOf(url) : undefined
      return next(url, format === undefined ? context : { ...context, format })
    },
  })
}

function formatOf(url: string): 'module' | 'module-typescript' | undefined {
  const [, extension] = /\.(ts|js)(?:[?#]|$)/.exec(url) ?? []
  if (extension === undefined || url.includes('/node_modules/')) return undefined
  if (!esSyntax.test(readFileSync(fileURLToPath(url), 'utf8'))) return undefined
  return extension === 'ts' ? 'module-typescript' : 'module'
}
