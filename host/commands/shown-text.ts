/** Texts of acquirers, operators and settings, on a terminal that they must not steer. */

/** Control characters but tab and line feed, and marks that change the direction of writing or the line. */
const steering =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

export const harmless = (text: string): string => text.replaceAll(steering, '�')

export const oneLine = (text: string): string => harmless(text.replaceAll(/\s+/g, ' '))

/** JSON in which such characters are escapes, so that a program reads the same value. */
export const shownJson = (value: unknown, space?: number): string =>
  JSON.stringify(value, plain, space).replaceAll(steering, escaped)

/**
 * `yyyy-MM-dd HH:mm:ss` in UTC, as commands and requests take it. JSON has the whole time.
 *
 * @param at A text is the time of an answer: with a T or a blank, and in UTC.
 */
export const shownTime = (at: Date | string): string =>
  (typeof at === 'string' ? at : at.toISOString()).slice(0, 19).replace('T', ' ')

const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
