/**
 * Loaded into a host before anything else: puts mistakes into the engine's sources while they are
 * loaded. The files stay as they are.
 */
import { registerHooks } from 'node:module'
import { mutantVariable, type PlacedPatch, withMistake } from './patch.ts'

const patches = JSON.parse(process.env[mutantVariable] ?? '[]') as readonly PlacedPatch[]

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const own = patches.filter(({ file }) => url.endsWith(`/${file}`))
    if (own.length === 0) return loaded
    const source = Buffer.from(loaded.source as Uint8Array).toString()
    return { ...loaded, source: own.reduce(withMistake, source) }
  },
})
