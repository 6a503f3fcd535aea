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

/** The document of a frame in the merchant's page. */
export type Frame = {
  /** Last part of its address: `number`, `cvv`, `submit`, `challenge`. */
  readonly name: string
  /** The hash in its address, which the script of the forms knows. */
  readonly hash: string
  readonly html: string
  /** Without `frame-ancestors`: the host adds the pages that may show the checkout. */
  readonly contentSecurityPolicy: string
}

type Listed = Omit<Asset, 'bytes'> & { readonly policy?: string }

/** One version of the widget. */
export type Assets = {
  /** The script of a merchant's page. */
  readonly loader: Asset
  readonly frames: readonly Frame[]
  /** Scripts, styles, languages and logos. */
  readonly files: readonly Asset[]
}

/** Sources and compiled files lie in different folders below the package. */
function folder(): URL {
  const beside = new URL('./generated/', import.meta.url)
  return existsSync(new URL('assets.json', beside))
    ? beside
    : new URL('../generated/', import.meta.url)
}

function readAssets(): Assets {
  const from = folder()
  const listed: readonly Listed[] = JSON.parse(readFileSync(new URL('assets.json', from), 'utf8'))
  const read = ({ name, type, hash, integrity }: Listed): Asset => {
    return { name, type, hash, integrity, bytes: readFileSync(new URL(name, from)) }
  }
  const [first, ...others] = listed
  if (first?.name !== 'paymentWidgets.js') throw new Error('generated/assets.json lists no loader')
  return {
    loader: read(first),
    files: others.filter(({ policy }) => policy === undefined).map(read),
    frames: others.flatMap((one) =>
      one.policy === undefined
        ? []
        : [
            {
              name: one.name.replace('.html', ''),
              hash: one.hash,
              html: read(one).bytes.toString('utf8'),
              contentSecurityPolicy: one.policy,
            },
          ],
    ),
  }
}

/** The version that this package carries. */
export const assets: Assets = readAssets()
