/** What the manifests of the packages promise is there: their files as npm finds them, before anything is packed. */
import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { bundlesAreCurrent } from '../rig/programs.ts'
import { root } from '../rig/sources.ts'
import { folders, manifestIn, targetsOf } from './manifests.ts'

describe('the manifest of every package', () => {
  for (const folder of folders) {
    const { name, exports, bin = {}, imports = {}, files = [] } = manifestIn(folder)
    const home = path.join(root, folder)

    test(`${name} names entries, programs and files that exist, and packs them`, async () => {
      await bundlesAreCurrent()
      // The guide of connector authors is made with the package.
      const targets = [...Object.values(bin), ...targetsOf(exports), ...targetsOf(imports)]
        .map((target) => target.replace('./', ''))
        .filter((target) => !target.startsWith('guide/'))
      const packed = [...files.filter((file) => !file.startsWith('!')), 'package.json']
      for (const target of targets) {
        assert.ok(
          packed.some((one) => target === one || target.startsWith(`${one}/`)),
          `${target} is packed`,
        )
        // Declarations of the compiler are made with the package: their source has to be there.
        const isDeclaration = /\.d\.ts$/.test(target)
        const place = isDeclaration
          ? target.replace(/^dist\//, '').replace(/\.d\.ts$/, '.ts')
          : target
        if (place.includes('*')) assert.ok(globSync(place, { cwd: home }).length > 0, place)
        else assert.ok(existsSync(path.join(home, place)), place)
      }
      for (const file of packed.filter((one) => !one.startsWith('guide'))) {
        assert.ok(globSync(file, { cwd: home }).length > 0, file)
      }
    })
  }
})
