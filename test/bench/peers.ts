/**
 * Other workflow engines and cron libraries, installed beside the benchmark and never with the
 * project.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('peers/', import.meta.url))

function versionIn(file: string): string | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
}

/** Whether the versions of test/bench/peers/package.json are installed. */
export function arePeersInstalled(): boolean {
  const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'))
  return Object.entries(dependencies).every(
    ([name, version]) => versionIn(`${folder}node_modules/${name}/package.json`) === version,
  )
}

/** Installs missing peers. A failure is printed and returns false. */
export async function installPeers(): Promise<boolean> {
  if (arePeersInstalled()) return true
  console.log('Installing the peers with npm ci in test/bench/peers')
  // npm sets this variable. The file it names also runs on Windows, where npm is not a program.
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
