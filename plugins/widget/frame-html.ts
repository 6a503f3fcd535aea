import { assets } from './assets.ts'

/** Names of the frames: two fields, the sender without a field, and the frame around a bank's page. */
export const frameNames = ['number', 'cvv', 'submit', 'challenge'] as const

export type FrameName = (typeof frameNames)[number]

export type FrameChoice = {
  /** Address below which assets lie, `https://fields.example/v1/widget` or `/v1/widget`. */
  readonly assetsBase: string
  readonly checkoutId: string
  /** Version of the frame's script, as the frame's address names it. Default: the current one. */
  readonly hash?: string
  /** Origins of pages that may hold the frame. Default: any page over https. */
  readonly ancestors?: readonly string[]
  /** In the test environment pages and banks without https are allowed. */
  readonly test?: boolean
}

export type FrameDocument = {
  readonly html: string
  readonly contentSecurityPolicy: string
  /** More headers of the document. A frame of a page with COEP must have a policy of its own. */
  readonly headers: Readonly<Record<string, string>>
}

const safe = (text: string) => /^[\w.:/-]*$/.test(text)

/** The document of a frame and its policy. */
export function frameHtml(name: FrameName, choice: FrameChoice): FrameDocument {
  const { assetsBase, hash = assets.files[`${name}.js`]!.hash } = choice
  const address = `${assetsBase.replace(/\/+$/, '')}/${hash}/${name}.js`
  if (!safe(address) || !safe(choice.checkoutId)) throw new TypeError('address of a frame')
  const isOpaque = name === 'challenge'
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Tollgate</title>
<script src="${address}" defer></script>
</head>
<body><main></main></body>
</html>
`
  return {
    html,
    contentSecurityPolicy: policyOf(name, address, choice),
    headers: {
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      // Banks' pages have no embedder policy, so the frame around them cannot ask for one.
      ...(isOpaque ? {} : { 'Cross-Origin-Embedder-Policy': 'require-corp' }),
    },
  }
}

function policyOf(name: FrameName, script: string, choice: FrameChoice): string {
  const web = choice.test === true ? 'https: http:' : 'https:'
  const ancestors = choice.ancestors?.join(' ') || web
  const isAbsolute = /^https?:\/\//.test(script)
  return [
    "default-src 'none'",
    `script-src ${isAbsolute ? script : "'self'"}`,
    "connect-src 'self'",
    ...(name === 'challenge'
      ? [`frame-src ${web}`, `form-action ${web}`]
      : ["form-action 'none'", "require-trusted-types-for 'script'"]),
    "base-uri 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ')
}
