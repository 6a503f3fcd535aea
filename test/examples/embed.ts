/** The embed example, from the sources and from the packed packages. */
import path from 'node:path'
import { test } from 'node:test'
import { packedProject } from '../rig/packed.ts'
import { root } from '../rig/sources.ts'
import { sells } from './shop.ts'

test('the embed example runs from the sources', async () => {
  await sells(path.join(root, 'examples/embed'), 'shop.mjs', ['--conditions=@tollgate/source'])
})

for (const [way, program] of [
  ['import', 'shop.mjs'],
  ['require', 'shop.cjs'],
] as const) {
  test(`the packed packages run the embed example by ${way}`, async () => {
    await sells(await packedProject(['examples/embed']), program)
  })
}
