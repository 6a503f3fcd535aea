/** A small version of the widget: two scripts and two frames, each with bytes of its own. */
import { createHash } from 'node:crypto'
import type { WidgetRelease } from '../../core/index.ts'

const file = (name: string, text: string) => {
  const bytes = Buffer.from(text)
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 32)
  return { name, type: 'text/javascript;charset=utf-8', bytes, hash }
}

export function widgetRelease(version: string): WidgetRelease {
  const loader = file('paymentWidgets.js', `// loader ${version} ${'.'.repeat(2000)}`)
  const digest = createHash('sha384').update(loader.bytes).digest('base64')
  const frame = (name: string, policy: string) => ({
    name,
    hash: file(name, `${name} ${version}`).hash,
    html: `<!doctype html><title>${name} ${version}</title>`,
    contentSecurityPolicy: policy,
  })
  return {
    loader: { ...loader, integrity: `sha384-${digest}` },
    frames: [
      frame('number', "default-src 'none'; script-src 'self'"),
      frame('challenge', "default-src 'none'; frame-src https:"),
    ],
    files: [file('en.js', `// english ${version}`)],
  }
}
