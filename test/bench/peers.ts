/** Other people's workflow engines and cron libraries: installed beside the benchmark, never with the project. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('peers/', import.meta.url))

function versionIn(file: string): string | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
}

/** Whether the versions that test/bench/peers/package.json asks for lie there. */
export function arePeersInstalled(): boolean {
  const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'))
  return Object.entries(dependencies).every(
    ([name, version]) => versionIn(`${folder}node_modules/${name}/package.json`) === version,
  )
}

/** Installs them unless they are there. False, with a word on the console, when that fails. */
export async function installPeers(): Promise<boolean> {
  if (arePeersInstalled()) return true
  console.log('Installing the peers with npm ci in test/bench/peers')
  // Set where npm started the benchmark. Its own file runs on Windows, too, where npm is no program.
  const npm = process.env.npm_execpath
  const [program, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const parameters = [...first, 'ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const child = spawn(program, parameters, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  await once(child, 'close').catch(() => {})
  const isThere = arePeersInstalled()
  if (!isThere)
    console.log('the peers are left out: npm ci in test/bench/peers did not install them')
  return isThere
}
