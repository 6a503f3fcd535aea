import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { root } from './sources.ts'

const run = promisify(execFile)
const packages = [
  'schemas',
  'plugins/kit',
  'plugins/widget',
  'core',
  'connectors/simulator',
  'connectors/acquirer-json',
  'host',
]

/**
 * An empty folder with the packages installed as a user installs them: built, packed and installed
 * from their tarballs, with nothing else of the repository than the copied files.
 */
export async function packedProject(copied: readonly string[]): Promise<string> {
  installed ??= install()
  const folder = await installed
  for (const source of copied) cpSync(path.join(root, source), folder, { recursive: true })
  return folder
}

let installed: Promise<string> | undefined

async function install(): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tollgate-packed-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-b'], {
    cwd: root,
  })
  writeFileSync(path.join(folder, 'package.json'), '{"name":"buyer","private":true}')
  await installPacked(folder, packages, ['express@5'])
  return folder
}

/** Packs packages of ours and installs them in a folder, with others beside. */
export async function installPacked(
  folder: string,
  ours: readonly string[],
  others: readonly string[] = [],
): Promise<void> {
  const npm = async (args: readonly string[], cwd: string) => {
    const options = { cwd, env: environmentOfNpm(), maxBuffer: 16 * 1024 * 1024 }
    return (await run('npm', args, options)).stdout.trim()
  }
  const folders = ours.map((name) => path.join(root, name))
  const packed = await npm(['pack', '--silent', '--pack-destination', folder, ...folders], root)
  const tarballs = packed.split('\n').map((name) => `./${name}`)
  const choices = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
  await npm(['install', ...choices, ...tarballs, ...others], folder)
}

/** npm as a user runs it, without the outer npm's variables. */
export function environmentOfNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^npm_(config_(?!cache|registry|userconfig)|package|lifecycle|node|command)/.test(name),
    ),
  )
}
