/**
 * Assembles what a process needs: the files that each package publishes, and the production packages at
 * the versions of the lock file. The embedded database and the repository's own Node stay out.
 *
 *     node deploy/assemble.js <folder>
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const [given] = process.argv.slice(2)

if (given === undefined) {
  console.error('Name the folder to assemble in: node deploy/assemble.js <folder>')
  process.exit(1)
}
const folder = path.resolve(given)
if (existsSync(folder) && readdirSync(folder).length > 0) {
  console.error(`${folder} is not empty: name a new folder.`)
  process.exit(1)
}

const npm = (words, cwd) =>
  execFileSync('npm', words, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })

const take = (file) => {
  const to = path.join(folder, file)
  mkdirSync(path.dirname(to), { recursive: true })
  cpSync(path.join(root, file), to)
}

/** What npm would publish of each package, at its place in the repository. */
const packed = JSON.parse(
  npm(['pack', '--dry-run', '--json', '--ignore-scripts', '--workspaces'], root),
)
const places = new Map(
  JSON.parse(npm(['query', '.workspace'], root)).map(({ name, location }) => [name, location]),
)
for (const { name, files } of packed) {
  const place = places.get(name)
  const compiled = files.some((file) => file.path.startsWith('dist/'))
  if (!compiled) throw new Error(`${name} is not compiled: run "npm run build" first`)
  for (const file of files) take(path.join(place, file.path))
}
for (const file of ['package.json', 'package-lock.json', 'LICENSE']) take(file)
cpSync(path.join(root, 'deploy/healthcheck.js'), path.join(folder, 'healthcheck.js'))

const choices = ['--omit=dev', '--omit=optional', '--no-audit', '--no-fund', '--ignore-scripts']
npm(['ci', ...choices], folder)

// Nothing in the folder is written again, whoever runs it.
const readOnly = (place) => {
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    const inside = path.join(place, entry.name)
    if (entry.isDirectory()) readOnly(inside)
    else if (entry.isFile()) chmodSync(inside, 0o444)
  }
  chmodSync(place, 0o555)
}
readOnly(folder)
