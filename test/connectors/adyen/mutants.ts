/** The connector with a mistake in one of its sources, loaded beside the right one. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Connector } from '@tollgate/plugin-kit'

const folder = join(import.meta.dirname, '../../../connectors/adyen')
const home = pathToFileURL(`${folder}/`).href

export type Patch = {
  /** Name of a source, without its ending. */
  readonly file: string
  /** Stands there once. Blanks and line breaks are the same. */
  readonly find: string
  readonly put: string
}

const patches = new Map<string, Patch>()

const mutantIn = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : /\?mutant=(\d+)$/.exec(url)?.[1]

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const mutant = mutantIn(context.parentURL)
    const isOurs = mutant !== undefined && found.url.startsWith(home) && !found.url.includes('?')
    return isOurs ? { ...found, url: `${found.url}?mutant=${mutant}` } : found
  },
  load(url, context, next) {
    const patch = patches.get(mutantIn(url) ?? '')
    const loaded = next(url, context)
    if (patch === undefined || !url.includes(`/${patch.file}.ts?`)) return loaded
    return { ...loaded, source: withMistake(patch) }
  },
})

/** The source with the mistake. @throws Error unless the text stands there once. */
export function withMistake({ file, find, put }: Patch): string {
  const source = readFileSync(join(folder, `${file}.ts`), 'utf8')
  const words = find
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const places = [...source.matchAll(new RegExp(words.join('\\s+'), 'g'))]
  if (places.length !== 1)
    throw new Error(`${file} holds ${places.length} times, not once: ${find}`)
  const [place] = places as [RegExpExecArray]
  return source.slice(0, place.index) + put + source.slice(place.index + place[0].length)
}

let last = 0

export async function mutant(patch: Patch): Promise<Connector> {
  last += 1
  patches.set(String(last), patch)
  const module = (await import(`${home}index.ts?mutant=${last}`)) as { readonly adyen: Connector }
  return module.adyen
}
