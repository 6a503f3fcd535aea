import { files } from './generated/files.ts'

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

/** One version of the widget. */
export type Assets = {
  /** The script of a merchant's page. */
  readonly loader: Asset
  readonly frames: readonly Frame[]
  /** Scripts, styles, languages and logos. */
  readonly files: readonly Asset[]
}

function readAssets(): Assets {
  const read = ({ name, type, hash, integrity, text }: (typeof files)[number]): Asset => {
    return { name, type, hash, integrity, bytes: Buffer.from(text) }
  }
  const [first, ...others] = files
  if (first?.name !== 'paymentWidgets.js') throw new Error('the first file is no loader')
  return {
    loader: read(first),
    files: others.filter(({ policy }) => policy === undefined).map(read),
    frames: others.flatMap(({ name, hash, text, policy }) =>
      policy === undefined
        ? []
        : [{ name: name.replace('.html', ''), hash, html: text, contentSecurityPolicy: policy }],
    ),
  }
}

/** The version that this package carries. */
export const assets: Assets = readAssets()
