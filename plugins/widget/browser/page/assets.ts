/** Hashes of the widget's files, put in when they are built. */
declare const assetHashes: Readonly<Record<string, string>>

export const assetAddress = (base: string, name: string) =>
  `${base}/widget/${assetHashes[name]}/${name}`

export const hasAsset = (name: string) => name in assetHashes

/** The address of a frame names its version, so that old pages keep their frames. */
export const frameAddress = (checkoutAddress: string, name: string) =>
  `${checkoutAddress}/frame/${assetHashes[`${name}.html`]}/${name}`
