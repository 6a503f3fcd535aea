import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { root } from './sources.ts'

const run = promisify(execFile)
/** What a program with an embedded engine installs of ours, and beside. */
const embedding: Packages = {
  ours: [
    'schemas',
    'plugins/kit',
    'plugins/widget',
    'core',
    'connectors/simulator',
    'connectors/acquirer-json',
    'host',
  ],
  others: ['express@5', 'fastify@5', 'hono@4', '@hono/node-server@2'],
}

export type Packages = {
  /** Folders of the repository. */
  readonly ours: readonly string[]
  readonly others: readonly string[]
}

/**
 * An empty folder with the packages installed as a user installs them: built, packed and installed
 * from their tarballs, with nothing else of the repository than the copied files.
 */
export async function packedProject(
  copied: readonly string[],
  packages: Packages = embedding,
): Promise<string> {
  const folder = await (installed.get(packages) ?? install(packages))
  for (const source of copied) cpSync(path.join(root, source), folder, { recursive: true })
  return folder
}

const installed = new Map<Packages, Promise<string>>()

function install(packages: Packages): Promise<string> {
  const folder = installIn(mkdtempSync(path.join(tmpdir(), 'tollgate-packed-')), packages)
  installed.set(packages, folder)
  return folder
}

async function installIn(folder: string, { ours, others }: Packages): Promise<string> {
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-b'], {
    cwd: root,
  })
  writeFileSync(path.join(folder, 'package.json'), '{"name":"buyer","private":true}')
  await installPacked(folder, ours, others)
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
  const packed = await npm(
    ['pack', '--silent', '--no-ignore-scripts', '--pack-destination', folder, ...folders],
    root,
  )
  const tarballs = packed.split('\n').map((name) => `./${name}`)
  const choices = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
  await npm(['install', ...choices, ...tarballs, ...others], folder)
}

/** npm as a user runs it, without the variables of the outer npm and of the outer run of tests. */
export function environmentOfNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        name !== 'NODE_TEST_CONTEXT' &&
        !/^npm_(config_(?!cache|registry|userconfig)|package|lifecycle|node|command)/.test(name),
    ),
  )
}
