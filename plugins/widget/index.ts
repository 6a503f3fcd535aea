export { type Asset, type Assets, assets, type Frame } from './assets.ts'
export { release } from './release.ts'
