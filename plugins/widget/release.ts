import { type Assets, assets } from './assets.ts'

/** The widget as an engine takes it: `createGateway({ widget: release() })`. */
export const release = (): Assets => assets
