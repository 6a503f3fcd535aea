/** The command line of this repository: runs the bundles, which it renews first if their sources changed. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { renewBundles } from './bundles.js'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tollgate-code'))
await renewBundles()
await import('../host/bin/tollgate.js')
