import { existsSync, readFileSync } from 'node:fs'

export type Asset = {
  readonly name: string
  /** Media type, with its character set. */
  readonly type: string
  readonly bytes: Buffer
  /** 32 characters of the SHA-256 in base64url; part of the file's address. */
  readonly hash: string
  /** As `integrity` of a script: `sha384-…`. */
  readonly integrity: string
}

type Listed = Omit<Asset, 'bytes'>

export type Assets = {
  /** The script of a merchant's page. */
  readonly loader: Asset
  /** Every other file, by its name. */
  readonly files: Readonly<Record<string, Asset>>
}

/** Sources and compiled files lie in different folders below the package. */
function folder(): URL {
  const beside = new URL('./generated/', import.meta.url)
  return existsSync(beside) ? beside : new URL('../generated/', import.meta.url)
}

function readAssets(): Assets {
  const from = folder()
  const listed: readonly Listed[] = JSON.parse(readFileSync(new URL('assets.json', from), 'utf8'))
  const all = listed.map((one) => ({ ...one, bytes: readFileSync(new URL(one.name, from)) }))
  const loader = all.find(({ name }) => name === 'paymentWidgets.js')
  if (loader === undefined) throw new Error('generated/assets.json lists no loader')
  return {
    loader,
    files: Object.fromEntries(all.filter((one) => one !== loader).map((one) => [one.name, one])),
  }
}

export const assets: Assets = readAssets()
