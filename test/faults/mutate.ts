/**
 * Loaded into a host before anything else: changes one of the engine's sources while loading it.
 * The files stay unchanged.
 */
import { registerHooks } from 'node:module'
import { mutantVariable, type Patch } from './patch.ts'

const patches = JSON.parse(process.env[mutantVariable] ?? '[]') as readonly Patch[]

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const own = patches.filter(({ file }) => url.endsWith(`/${file}`))
    if (own.length === 0) return loaded
    let source = Buffer.from(loaded.source as Uint8Array).toString()
    for (const { file, find, put } of own) {
      if (source.split(find).length !== 2) {
        throw new Error(`the mutant of ${file} fits no more: ${find}`)
      }
      source = source.replace(find, () => put)
    }
    return { ...loaded, source }
  },
})
