/** Engines without jobs, so that a test runs the work on a scope itself. */

import { Registry } from '../../../core/connector/registry.ts'
import type { Engine } from '../../../core/engine.ts'
import { localKeys } from '../../../core/index.ts'
import { assembleEngine } from '../../../core/start-engine.ts'
import { closeResources, openResources } from '../../../core/start-resources.ts'
import { Vault } from '../../../core/vault/vault.ts'
import type { ScriptedAcquirer } from '../../rig/acquirer.ts'
import type { TestDatabase } from '../../rig/database.ts'
import { freshSimulator, testKey } from '../../rig/gateway.ts'

export type OpenEngine = { readonly engine: Engine; close(): Promise<void> }

type Run = { readonly database: TestDatabase; readonly acquirer?: ScriptedAcquirer }

export async function openEngine({ database, acquirer }: Run): Promise<OpenEngine> {
  const options = {
    database: { url: database.url },
    plugins: [freshSimulator(), ...(acquirer === undefined ? [] : [acquirer.plugin])],
    environment: 'test',
    keys: localKeys(testKey),
  } as const
  const resources = openResources(options)
  const vault = await Vault.start(resources.lanes, options.keys)
  const registry = new Registry(options.plugins, {})
  const { engine } = await assembleEngine(options, resources, registry, vault)
  return {
    engine,
    async close() {
      await engine.steps.close()
      await vault.close()
      await closeResources(resources)
    },
  }
}
