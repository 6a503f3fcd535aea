/** The documents of the frames. They are the same for everyone: each reads its checkout from its address. */

/** Two fields, the sender without a field, and the frame around a bank's page. */
export const frameNames = ['number', 'cvv', 'submit', 'challenge'] as const

export type FrameName = (typeof frameNames)[number]

/** The folder of the API, from `<base>/checkouts/<id>/frame/<hash>/<name>`. */
const base = '../../../..'

export function frameHtml(name: FrameName, scriptHash: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate</title>
<script src="${base}/widget/${scriptHash}/${name}.js" defer></script>
</head>
<body><div id="root"></div></body>
</html>
`
}

/** The policy of a frame, without `frame-ancestors`: the gateway knows the pages of a checkout. */
export function framePolicy(name: FrameName): string {
  // Live redirects are https by the rules of the engine; banks of test systems may be without.
  const more =
    name === 'challenge'
      ? ['frame-src https: http:', 'form-action https: http:']
      : ["form-action 'none'", "require-trusted-types-for 'script'"]
  return [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    ...more,
  ].join('; ')
}
