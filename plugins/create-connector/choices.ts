/** What an author chooses before the first line is written. */

export const wires = ['json', 'xml', 'form'] as const

/** How requests and answers are written. */
export type Wire = (typeof wires)[number]

/** Parts that not every acquirer has, with the question about each. */
export const parts = {
  token: 'Does the acquirer give access tokens for user and password?',
  redirect: 'Does the acquirer send shoppers to a page of its own?',
  events: 'Does the acquirer send messages about payments?',
  settlement: 'Does the acquirer write settlement files?',
} as const

export type Part = keyof typeof parts

export type Choices = {
  /** Of the connector, its package and its folder: `north-bank`. */
  readonly name: string
  readonly wire: Wire
  readonly parts: ReadonlySet<Part>
}

/** Packages of connectors begin like this. A name that has it already does not get it twice. */
export const packagePrefix = 'tollgate-connector-'

export const withoutPrefix = (name: string): string =>
  name.startsWith(packagePrefix) ? name.slice(packagePrefix.length) : name

/** Why a name does not fit; undefined when it does. */
export const unfitName = (given: string): string | undefined => {
  const name = withoutPrefix(given)
  return /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) && name.length <= 32
    ? undefined
    : 'a name has at most 32 lower-case letters, digits and single hyphens, and begins with a letter: north-bank'
}
