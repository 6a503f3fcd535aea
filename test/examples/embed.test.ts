/** The embed example over the bundles of the repository, which are those that npm publishes. */
import path from 'node:path'
import { test } from 'node:test'
import { bundlesAreCurrent } from '../rig/programs.ts'
import { root } from '../rig/sources.ts'
import { sells } from './shop.ts'

test('the embed example takes payments before and after a restart', async () => {
  await bundlesAreCurrent()
  await sells(path.join(root, 'examples/embed'), 'shop.mjs')
})
