/** The published packages of the repository. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../rig/sources.ts'

type Entries = Readonly<Record<string, string | Readonly<Record<string, string>>>>

export type Manifest = {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly description?: string
  readonly keywords?: readonly string[]
  readonly license?: string
  readonly type?: string
  readonly homepage?: string
  readonly bugs?: string
  readonly engines?: Readonly<Record<string, string>>
  readonly repository?: { readonly type: string; readonly url: string; readonly directory?: string }
  readonly publishConfig?: { readonly access?: string; readonly provenance?: boolean }
  readonly bin?: Readonly<Record<string, string>>
  readonly exports: Entries
  readonly imports?: Entries
  readonly files?: readonly string[]
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const read = (file: string): Manifest & { readonly workspaces?: readonly string[] } =>
  JSON.parse(readFileSync(path.join(root, file), 'utf8'))

export const rootManifest = read('package.json')

/** Their folders: all workspaces that are not private. */
export const folders: readonly string[] = (rootManifest.workspaces ?? [])
  .flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }))
  .map((file) => path.dirname(file).replaceAll('\\', '/'))
  .filter((folder) => manifestIn(folder).private !== true)
  .sort()

export function manifestIn(folder: string): Manifest {
  return read(`${folder}/package.json`)
}

/** The files that Node takes: the sources are for the repository alone. */
export function targetsOf(entries: Manifest['exports']): string[] {
  return Object.values(entries).flatMap((entry) =>
    typeof entry === 'string'
      ? [entry]
      : Object.entries(entry).flatMap(([key, file]) => (key === '@tollgate/source' ? [] : [file])),
  )
}
