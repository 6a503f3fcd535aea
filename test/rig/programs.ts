/**
 * Programs that tests start as processes, each bundled into one file: a process that loads the sources needs two
 * seconds of processor time before it does anything.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'
import { renewBundles, stampOf } from '../../build/bundles.js'
import { root } from './sources.ts'

const sourceFolders = ['schemas', 'plugins', 'core', 'connectors', 'host', 'test']
const folder = join(root, 'node_modules/.cache/tollgate-test-programs')

/** Set by the runner, which bundled everything before the first test. */
export const bundledVariable = 'TOLLGATE_TEST_BUNDLED'

/** The entries, from the root of the repository. */
const programs = [
  'test/rig/installation/host-process.ts',
  'test/attacks/main.ts',
  'test/faults/main.ts',
  'test/faults/migrate-process.ts',
  'test/faults/receiver-process.ts',
  'test/flows/key-rotation-process.ts',
  'test/flows/webhook-process.ts',
  'test/plugins/embedded-postgres/host-process.ts',
] as const

export type Program = (typeof programs)[number]

/** The bundle of a program, as Node runs it without a condition. */
export async function bundled(program: Program): Promise<string> {
  await bundlesAreCurrent()
  return fileOf(program)
}

/** Whoever starts a program of a package, such as `host/bin/tollgate.js`, without a condition waits for this. */
export async function bundlesAreCurrent(): Promise<void> {
  if (process.env[bundledVariable] === undefined) await bundleAll()
}

let made: Promise<void> | undefined

/** Makes what is older than the sources. Processes at the same time make the same. */
export function bundleAll(): Promise<void> {
  made ??= make()
  return made
}

async function make(): Promise<void> {
  await renewBundles()
  const stamp = stampOf(sourceFolders.map((one) => join(root, one)))
  const stampFile = join(folder, 'stamp')
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: [...programs],
    absWorkingDir: root,
    outbase: root,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    chunkNames: `parts/[name]-[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    conditions: ['@tollgate/source'],
    plugins: [thirdPartiesStay, placesStay],
    logLevel: 'error',
    write: false,
  })
  rmSync(stampFile, { force: true })
  for (const { path, contents } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.${process.pid}`, contents)
    renameSync(`${path}.${process.pid}`, path)
  }
  writeFileSync(stampFile, stamp)
}

const fileOf = (program: Program): string => join(folder, program.replace(/\.ts$/, '.mjs'))

const thirdPartiesStay: Plugin = {
  name: 'third parties stay in node_modules',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@tollgate/')
        ? undefined
        : { path, external: true },
    )
  },
}

/** A source that looks for files beside itself still finds them. */
const placesStay: Plugin = {
  name: 'import.meta names the source',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.')) return undefined
      const contents = text
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.filename', JSON.stringify(path))
        .replaceAll('import.meta.url', JSON.stringify(`file://${path}`))
      return { contents, loader: 'ts' }
    })
  },
}
