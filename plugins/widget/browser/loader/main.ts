/**
 * The script of a merchant's page. It finds its checkout, makes room for the forms, and loads
 * styles and forms of its own version, each held to its hash.
 */
import type { Handoff } from '../page/main.ts'

/** Put in when the file is built. */
declare const pageAssets: {
  readonly script: { readonly path: string; readonly integrity: string }
  readonly style: { readonly path: string; readonly integrity: string }
}

type Wpwl = { unload: () => void; executePayment: (container: string) => void }
type Page = Window & {
  wpwl?: Wpwl
  wpwlOptions?: { style?: unknown; onError?: (error: Error) => void }
  trustedTypes?: {
    createPolicy: (
      name: string,
      rules: { createScriptURL: (url: string) => string },
    ) => { createScriptURL: (url: string) => string }
  }
}

const page = window as Page

declare const wpwlOptions: Page['wpwlOptions']

/** Options that a page declares with `let` or `const` are no property of the window. */
const givenOptions = () => (typeof wpwlOptions === 'undefined' ? undefined : wpwlOptions)

const pattern = /^(.*)\/paymentWidgets\.js\?(?:.*&)?checkoutId=([^&#/]+)/

/** The script's own element; a page that loads it as a module is searched for it. */
function ownScript(): string {
  const current = document.currentScript as HTMLScriptElement | null
  if (current !== null && pattern.test(current.src)) return current.src
  const all = [...document.querySelectorAll<HTMLScriptElement>('script[src*="paymentWidgets.js?"]')]
  return all.find((script) => pattern.test(script.src))?.src ?? ''
}

function fail(name: string, message: string): void {
  const error = new Error(message)
  error.name = name
  const options = givenOptions()
  if (typeof options?.onError === 'function') options.onError(error)
  else console.error(`Tollgate widget: ${name}: ${message}`)
}

/** Pages with Trusted Types take the address of a script from a policy alone. */
function scriptAddress(address: string): string {
  const rules = { createScriptURL: (url: string) => url }
  try {
    return page.trustedTypes?.createPolicy('tollgate', rules).createScriptURL(address) ?? address
  } catch {
    return address
  }
}

/**
 * Presses the pay button of a form for a page with a button of its own. Pages name the container by
 * one class, or by all of them with dots between.
 */
function executePayment(container: string): void {
  const classes = String(container)
    .replace(/[.\s]+/g, ' ')
    .trim()
  const found = classes === '' ? null : document.getElementsByClassName(classes)[0]
  const form = found?.querySelector<HTMLFormElement>('form.wpwl-form')
  if (form) form.requestSubmit()
  else fail('WidgetError', `executePayment: the page has no form in .${classes}`)
}

function loadScript(base: string, signal: AbortSignal): HTMLScriptElement {
  const script = document.createElement('script')
  script.crossOrigin = 'anonymous'
  script.integrity = pageAssets.script.integrity
  script.async = true
  script.addEventListener('error', () =>
    fail('WidgetError', 'The script of the forms was not loaded'),
  )
  script.src = scriptAddress(`${base}${pageAssets.script.path}`)
  signal.addEventListener('abort', () => script.remove(), { once: true })
  return script
}

function loadStyles(base: string, signal: AbortSignal): Pick<Handoff, 'styled' | 'unstyle'> {
  const nothing = () => {}
  if (givenOptions()?.style === 'none') return { styled: Promise.resolve(), unstyle: nothing }
  const link = document.createElement('link')
  link.rel = 'stylesheet'
  link.crossOrigin = 'anonymous'
  link.integrity = pageAssets.style.integrity
  link.href = `${base}${pageAssets.style.path}`
  const styled = new Promise<void>((resolve) => {
    link.addEventListener('load', () => resolve())
    // Without styles a shopper can still pay.
    link.addEventListener('error', () => resolve())
  })
  // First in the head, so that the merchant's own styles win.
  document.head.prepend(link)
  signal.addEventListener('abort', () => link.remove(), { once: true })
  return { styled, unstyle: () => link.remove() }
}

function takeForms(checkoutId: string, signal: AbortSignal): HTMLFormElement[] {
  const forms = [...document.querySelectorAll<HTMLFormElement>('form.paymentWidgets')].filter(
    (form) => form.dataset.tollgate === undefined,
  )
  for (const form of forms) {
    form.dataset.tollgate = checkoutId
    // The page below does not jump when the forms appear.
    form.style.minHeight = '25rem'
    const release = () => {
      delete form.dataset.tollgate
      form.style.removeProperty('min-height')
    }
    signal.addEventListener('abort', release, { once: true })
  }
  return forms
}

function start(): void {
  const [, folder, id] = pattern.exec(ownScript()) ?? []
  if (folder === undefined || id === undefined) {
    fail('InvalidCheckoutIdError', 'The address of the script names no checkoutId')
    return
  }
  const checkoutId = decodeURIComponent(id)
  // Older pages load the script without the version.
  const base = /\/v1$/.test(folder) ? folder : `${folder}/v1`
  const ending = new AbortController()
  const { signal } = ending
  const earlier = page.wpwl
  page.wpwl = {
    executePayment,
    unload: () => {
      ending.abort()
      delete page.wpwl
      earlier?.unload()
    },
  }
  const loading = fetch(`${base}/checkouts/${encodeURIComponent(checkoutId)}/widget`, {
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    headers: { Accept: 'application/json' },
  })
  loading.catch(() => {})
  const script = loadScript(base, signal)
  const styles = loadStyles(base, signal)
  const ready = new Promise<void>((resolve) => {
    const begin = () => {
      if (signal.aborted) return
      if (takeForms(checkoutId, signal).length > 0) resolve()
      else fail('WidgetError', 'The page has no form with the class paymentWidgets')
    }
    if (document.readyState !== 'loading') begin()
    else document.addEventListener('DOMContentLoaded', begin, { once: true, signal })
  })
  const handoff: Handoff = { place: { base, checkoutId }, loading, signal, ready, ...styles }
  document.head.append(Object.assign(script, { tollgate: handoff }))
}

start()
