export { type Asset, type Assets, assets } from './assets.ts'
export {
  type FrameChoice,
  type FrameDocument,
  type FrameName,
  frameHtml,
  frameNames,
} from './frame-html.ts'
export { languageTags } from './languages.ts'
export { release } from './release.ts'
