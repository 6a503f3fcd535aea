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

type Settings = Readonly<Record<string, unknown>>

/**
 * Whether the merchant listed the origin of a page; undefined: there is no list.
 *
 * @param settings of the entity that a checkout was made for, and of the channel that takes its payment. Every list counts.
 */
export function isListed(settings: readonly Settings[], page: string): boolean | undefined {
  const { origin } = new URL(page)
  const lists = settings
    .map(({ widgetOrigins }) => widgetOrigins as readonly string[] | undefined)
    .filter((list) => list !== undefined)
  return lists.length === 0 ? undefined : lists.every((list) => list.includes(origin))
}
