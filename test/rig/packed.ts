import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { root } from './sources.ts'

const run = promisify(execFile)
const packages = [
  'schemas',
  'plugins/kit',
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
  const npm = (args: string[], cwd: string) =>
    run('npm', args, { cwd, env: environment(), maxBuffer: 16 * 1024 * 1024 })
  await run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-b'], {
    cwd: root,
  })
  for (const name of packages) {
    await npm(['pack', '--silent', '--pack-destination', folder], path.join(root, name))
  }
  const tarballs = readdirSync(folder).filter((file) => file.endsWith('.tgz'))
  writeFileSync(path.join(folder, 'package.json'), '{"name":"buyer","private":true}')
  await npm(
    [
      'install',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      '--ignore-scripts',
      ...tarballs.map((file) => `./${file}`),
      'express@5',
    ],
    folder,
  )
  return folder
}

/** npm as a user runs it, without the outer npm's variables. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^npm_(config_(?!cache|registry|userconfig)|package|lifecycle|node|command)/.test(name),
    ),
  )
}
