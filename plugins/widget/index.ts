export { type Asset, type Assets, assets, type Frame } from './assets.ts'
export { brandsOf, cardBrand, schemeOf } from './browser/fields/card-brands.ts'
export { passesLuhn } from './browser/fields/luhn.ts'
export { release } from './release.ts'
