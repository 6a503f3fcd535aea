/** Renews the bundles of packages whose sources changed. @returns the folders of these packages. */
export function renewBundles(folders?: readonly string[]): Promise<string[]>
/** Changes with every source in these folders. */
export function stampOf(folders: readonly string[]): string
