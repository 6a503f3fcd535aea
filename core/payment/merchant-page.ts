/** The page of the merchant that a shopper goes on to. */

/**
 * The page with the names of what to read there. Its own query stays, except these two names: a page that reads the
 * first of several values would read another payment.
 */
export function withResource(
  page: string,
  { id, path }: { readonly id: string; readonly path: string },
): string {
  const location = new URL(page)
  for (const [name, value] of [
    ['id', id],
    ['resourcePath', path],
  ] as const) {
    location.searchParams.delete(name)
    location.searchParams.append(name, value)
  }
  return location.href
}

/** Whether a page has an address of the web, unlike the link of an app. */
export const isWebPage = (page: string): boolean => /^https?:/i.test(page)

/** Whether the merchant listed the origin of a page; undefined: there is no list. */
export function isListed(
  settings: Readonly<Record<string, unknown>>,
  page: string,
): boolean | undefined {
  const { widgetOrigins } = settings as { widgetOrigins?: readonly string[] }
  return widgetOrigins?.includes(new URL(page).origin)
}
