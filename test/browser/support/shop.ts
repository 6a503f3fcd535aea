/** A merchant's shop on an origin of its own. */
import type { Answer } from './servers.ts'
import { html, type Served, serve } from './servers.ts'

export type ShopPage = {
  readonly brands?: string
  /** Source of `wpwlOptions`. */
  readonly options?: string
  readonly head?: string
  /** Markup inside the form. */
  readonly inForm?: string
  readonly language?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly scriptAttributes?: string
  readonly forms?: readonly string[]
  readonly after?: string
}

export type Shop = Served & {
  /** Serves this page from now on. */
  readonly show: (page: ShopPage) => void
  readonly address: string
  /** Addresses that browsers asked for. */
  readonly asked: string[]
}

export async function openShop(script: () => string): Promise<Shop> {
  let page: ShopPage = {}
  const asked: string[] = []
  const served = await serve('127.0.0.1', (request): Answer => {
    asked.push(request.url!)
    if (request.url!.startsWith('/result')) {
      return html(
        '<!doctype html><html lang="en"><title>Result</title><main><h1>Result</h1></main></html>',
      )
    }
    if (request.url!.startsWith('/favicon')) return { status: 204 }
    return html(shopPage(page, script()), page.headers ?? {})
  })
  return {
    ...served,
    asked,
    address: `${served.origin}/basket`,
    show: (next) => {
      page = next
    },
  }
}

function shopPage(page: ShopPage, script: string): string {
  const { language = 'en', options, brands = 'VISA MASTER AMEX', inForm = '' } = page
  const forms = (page.forms ?? [brands]).map(
    (codes) =>
      `<form action="/result?order=7" class="paymentWidgets" data-brands="${codes}">${inForm}</form>`,
  )
  return `<!doctype html>
<html lang="${language}"${language === 'ar' ? ' dir="rtl"' : ''}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Shop</title>${page.head ?? ''}
${options === undefined ? '' : `<script>var wpwlOptions = ${options}</script>`}
</head>
<body><main><h1>Your order</h1>
${forms.join('\n')}
</main>
<script src="${script}" ${page.scriptAttributes ?? ''}></script>
${page.after ?? ''}
</body></html>`
}
