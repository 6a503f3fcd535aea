/**
 * The packages as Node loads them fastest: a few JavaScript files each in `dist`, instead of hundreds of sources.
 * They are what npm publishes, and what the scripts of this repository run.
 *
 *     node build/bundles.js                 renews those that are older than their sources
 *     node build/bundles.js --new <folder>  makes those of one package anew, before it is packed
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(import.meta.dirname, '..')
const source = '@tollgate/source'
/** Beside the bundles, so that both go together. Its name keeps it out of packages. */
const stampFile = 'dist/bundles.map'
/** Folders below a package without sources of its bundles. */
const passedOver = new Set(['dist', 'node_modules', 'template', 'wires', 'logos', 'guide'])
/** A process that started before a renewal may still load a part of the former bundle. */
const keepFormerMs = 24 * 60 * 60_000

/**
 * Renews the bundles of all packages whose sources changed.
 * @param isAnew renews those of all, and leaves no former one.
 * @returns the folders of these packages.
 */
export async function renewBundles(folders = packageFolders(), isAnew = false) {
  const stale = folders.flatMap((folder) => {
    const stamp = stampOf([folder])
    return stamp === storedStamp(folder) && !isAnew ? [] : [{ folder, stamp }]
  })
  if (stale.length === 0) return []
  const { build } = await import('esbuild').catch((thrown) => {
    if (thrown.code !== 'ERR_MODULE_NOT_FOUND') throw thrown
    throw new Error(
      'the bundles need esbuild: install the packages with "npm ci", also those for development',
    )
  })
  await Promise.all(
    stale.map(({ folder, stamp }) => makeBundles(build, folder, stamp, isAnew ? 0 : keepFormerMs)),
  )
  return stale.map(({ folder }) => folder)
}

/** Workspaces, as the root's manifest lists them. */
function packageFolders() {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return workspaces
    .flatMap((entry) => {
      if (!entry.endsWith('/*')) return [join(root, entry)]
      const parent = join(root, entry.slice(0, -2))
      return readdirSync(parent).map((name) => join(parent, name))
    })
    .filter((folder) => existsSync(join(folder, 'package.json')))
}

/** Names, sizes and times of all sources: reading them would take longer than running their bundle. */
export function stampOf(folders) {
  const hash = createHash('sha256').update(
    `${process.version} ${statSync(import.meta.filename).mtimeMs}`,
  )
  const walk = (place) => {
    const entries = readdirSync(place, { withFileTypes: true })
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = join(place, entry.name)
      if (entry.isDirectory()) {
        if (!passedOver.has(entry.name)) walk(path)
      } else if (/\.(ts|json)$/.test(entry.name)) {
        const { size, mtimeMs } = statSync(path)
        hash.update(`${path} ${size} ${mtimeMs}\n`)
      }
    }
  }
  for (const folder of folders) walk(folder)
  return hash.digest('hex')
}

function storedStamp(folder) {
  try {
    return readFileSync(join(folder, stampFile), 'utf8')
  } catch {
    return undefined
  }
}

async function makeBundles(build, folder, stamp, keepMs) {
  const { outputFiles } = await build({
    entryPoints: entriesOf(folder),
    absWorkingDir: folder,
    outdir: join(folder, 'dist'),
    chunkNames: 'parts/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    packages: 'external',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'error',
    write: false,
  })
  // Entries come last: until then the former ones find their parts.
  const parts = outputFiles.filter(({ path }) => path.includes('/dist/parts/'))
  const entries = outputFiles.filter((file) => !parts.includes(file))
  for (const { path, contents } of [...parts, ...entries]) write(path, contents)
  write(join(folder, stampFile), stamp)
  removeFormer(folder, new Set(outputFiles.map(({ path }) => path)), keepMs)
}

/** What others import from a package, by the name of its output: the targets of its `exports` and `imports`. */
function entriesOf(folder) {
  const { exports = {}, imports = {} } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const files = Object.values({ ...exports, ...imports }).flatMap((target) =>
    typeof target === 'string' ? [] : globSync(target[source], { cwd: folder }),
  )
  return Object.fromEntries(files.map((file) => [file.replace(/^\.\/|\.ts$/g, ''), file]))
}

/** Another process may read or write the same file, and has to find it whole. The name keeps drafts out of packages. */
function write(path, contents) {
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}.map`
  writeFileSync(draft, contents)
  renameSync(draft, path)
}

function removeFormer(folder, current, olderThanMs) {
  for (const file of globSync('dist/**/*.js', { cwd: folder })) {
    const path = join(folder, file)
    if (current.has(path) || Date.now() - statSync(path).mtimeMs < olderThanMs) continue
    rmSync(path, { force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [word, folder = '.'] = process.argv.slice(2)
  if (word === '--new') {
    // Programs that run meanwhile find their bundles at any moment.
    await renewBundles([join(process.cwd(), folder)], true)
  } else {
    for (const place of await renewBundles()) console.log(`bundled ${relative(root, place)}`)
  }
}
