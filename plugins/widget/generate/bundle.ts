/** Bundles the browser's sources. Names of files go into addresses and their hashes into the code. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, transform } from 'esbuild'
import { brandTitlesModule, cardBrandsModule } from './card-brands.ts'
import { frameHtml, frameNames, framePolicy } from './frame-html.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = ['chrome111', 'firefox113', 'safari16.4']

export type Made = {
  readonly name: string
  readonly type: string
  readonly text: string
  readonly hash: string
  readonly integrity: string
  /** Frames: their content security policy. */
  readonly policy?: string
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  html: 'text/html; charset=utf-8',
}

function made(name: string, text: string): Made {
  const digest = (algorithm: 'sha256' | 'sha384') => createHash(algorithm).update(text).digest()
  return {
    name,
    type: types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    text,
    hash: digest('sha256').toString('base64url').slice(0, 32),
    integrity: `sha384-${digest('sha384').toString('base64')}`,
  }
}

async function script(
  entry: string,
  name: string,
  define: Readonly<Record<string, unknown>>,
): Promise<Made> {
  const { outputFiles } = await build({
    entryPoints: [`${root}browser/${entry}`],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    charset: 'utf8',
    legalComments: 'none',
    target,
    define: Object.fromEntries(
      Object.entries(define).map(([key, value]) => [key, JSON.stringify(value)]),
    ),
  })
  return made(name, outputFiles[0]!.text)
}

async function styles(): Promise<Made> {
  const source = readFileSync(`${root}browser/styles/widget.css`, 'utf8')
  // Older browsers take the plain colours; the newer ones must not be rewritten for them.
  const { code } = await transform(source, { loader: 'css', minify: true, charset: 'utf8' })
  return made('widget.css', code)
}

async function languages(): Promise<Made[]> {
  const codes = readdirSync(`${root}texts`)
    .filter((name) => /^[a-z]{2}\.ts$/.test(name))
    .map((name) => name.slice(0, 2))
    .sort()
  return Promise.all(
    codes.map(async (code) => {
      const { default: texts } = await import(pathToFileURL(`${root}texts/${code}.ts`).href)
      // The hosted page alone has texts of a page, and its server writes them.
      const { page, ...shown } = texts
      return made(`texts-${code}.json`, JSON.stringify(shown))
    }),
  )
}

function logos(): Made[] {
  return readdirSync(`${root}logos`)
    .filter((name) => name.endsWith('.svg'))
    .sort()
    .map((name) => {
      const source = readFileSync(`${root}logos/${name}`, 'utf8')
      return made(`brand-${name}`, source.replace(/>\s+</g, '><').trim())
    })
}

/** Tables that the browser's sources import. They come before the bundles. */
export function tables(): ReadonlyMap<string, string> {
  return new Map([
    ['card-brands.ts', cardBrandsModule()],
    ['brand-titles.ts', brandTitlesModule()],
  ])
}

/** Every file that a host serves, the loader last: it knows the hashes of the others. */
export async function bundle(): Promise<readonly Made[]> {
  const scripts = await Promise.all(
    frameNames.map((name) => script(`frames/${name}.ts`, `${name}.js`, {})),
  )
  const frames = frameNames.map((name, index) => {
    const policy = framePolicy(name)
    const document = made(`${name}.html`, frameHtml(name, scripts[index]!.hash))
    // Another policy is another frame.
    return { ...document, policy, hash: made(name, document.text + policy).hash }
  })
  const plain = [...frames, ...(await languages()), ...logos()]
  const assetHashes = Object.fromEntries(plain.map(({ name, hash }) => [name, hash]))
  const [page, style] = await Promise.all([
    script('page/main.ts', 'page.js', { assetHashes }),
    styles(),
  ])
  const part = ({ name, hash, integrity }: Made) => ({ path: `/widget/${hash}/${name}`, integrity })
  const loader = await script('loader/main.ts', 'paymentWidgets.js', {
    pageAssets: { script: part(page), style: part(style) },
  })
  return [loader, page, style, ...scripts, ...plain]
}
