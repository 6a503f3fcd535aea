/** The origin of card fields: a script that got into another page of the same origin could read them. */

/**
 * @param names of the two settings, as their owner knows them.
 * @returns why the origin cannot be that of card fields; undefined when it can.
 */
export function unfitFieldsUrl(
  { environment, fieldsUrl, publicUrl }: FieldsOrigin,
  names: { readonly fieldsUrl: string; readonly publicUrl: string },
): string | undefined {
  if (fieldsUrl === undefined) return undefined
  const is = `${names.fieldsUrl} is "${fieldsUrl}"`
  const fields = URL.parse(fieldsUrl)
  const isWeb = fields?.protocol === 'https:' || fields?.protocol === 'http:'
  if (!isWeb || fields.href !== `${fields.origin}/`) {
    return `${is}: it must be an origin such as https://fields.example.com, without a path`
  }
  if (environment === 'live' && fields.protocol !== 'https:') {
    return `${is}: it must begin with https://, like ${names.publicUrl}`
  }
  const other = publicUrl === undefined ? null : URL.parse(publicUrl)
  if (other === null || originOf(fields) !== originOf(other)) return undefined
  return `${is}: it must differ from the origin of ${names.publicUrl}, because a script that got into a page there could read card fields`
}

type FieldsOrigin = {
  readonly environment: 'test' | 'live'
  readonly fieldsUrl?: string | undefined
  readonly publicUrl?: string | undefined
}

/** A final dot makes no other host. */
const originOf = ({ protocol, hostname, port }: URL): string =>
  `${protocol}//${hostname.endsWith('.') ? hostname.slice(0, -1) : hostname}:${port}`
