/** The page of the merchant that a shopper goes on to. */

/**
 * The page with the names of what to read there. Its own query stays as the merchant wrote it, because signatures and
 * links into apps compare it letter by letter. Only these two names leave it: a page that reads the first of several
 * values would read another payment.
 */
export function withResource(
  page: string,
  { id, path }: { readonly id: string; readonly path: string },
): string {
  const location = new URL(page)
  const own = queryOf(page).filter((part) => !['id', 'resourcePath'].includes(nameOf(part)))
  const added = [`id=${encodeURIComponent(id)}`, `resourcePath=${encodeURIComponent(path)}`]
  const { hash } = location
  location.search = ''
  location.hash = ''
  return `${location.href}?${[...own, ...added].join('&')}${hash}`
}

/** The parts of a query as they were written. Characters that a header does not take are escaped. */
function queryOf(page: string): string[] {
  const [beforeFragment = ''] = page.split('#', 1)
  const start = beforeFragment.indexOf('?')
  if (start === -1 || start === beforeFragment.length - 1) return []
  return beforeFragment
    .slice(start + 1)
    .toWellFormed()
    .replace(/[^!-~]|["<>]/gu, encodeURIComponent)
    .split('&')
}

/** A question mark at the start of a part belongs to its name. */
const nameOf = (part: string): string => [...new URLSearchParams(`?${part}`).keys()][0] ?? ''

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
