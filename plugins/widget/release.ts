import { assets } from './assets.ts'
import { frameHtml, frameNames } from './frame-html.ts'

/** Every address of a file is one of the host that served the frame. */
const assetsBase = '/v1/widget'

/** The widget as an engine takes it: `createGateway({ widget: release() })`. */
export function release() {
  return {
    loader: assets.loader,
    files: Object.values(assets.files),
    frames: frameNames.map((name) => {
      const { html, contentSecurityPolicy } = frameHtml(name, {
        assetsBase,
        checkoutId: '',
        test: true,
      })
      return {
        name,
        hash: assets.files[`${name}.js`]!.hash,
        html,
        // The engine adds the pages of each checkout.
        contentSecurityPolicy: contentSecurityPolicy.replace(/; frame-ancestors .*$/, ''),
      }
    }),
  }
}
