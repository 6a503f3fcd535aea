/** What a file that its connector cannot read seems to be, for the operator who has to bring another one. */

/** So much of a file tells. */
export const headBytes = 512

/** The first bytes of other files, as hex. */
const marks: readonly (readonly [RegExp, string])[] = [
  [/^1f8b/, 'it is compressed with gzip, and must be unpacked'],
  [/^504b0304/, 'it is a ZIP archive or a workbook: unpack it, or save its sheet as text'],
  [/^d0cf11e0/, 'it is a workbook or document of Office: save its sheet as text'],
  [/^25504446/, 'it is a PDF, and must be the file that the institute makes for programs'],
  [/^(?:fffe|feff)/, 'its text is in UTF-16, and must be in UTF-8'],
  // Without a byte-order mark, every second byte of plain text is zero.
  [/^(?:(?:00[2-7].){4}|(?:[2-7].00){4})/, 'its text is in UTF-16, and must be in UTF-8'],
]

/** Undefined where nothing is known better than the connector does. */
export function seemsToBe(head: Buffer, thrown?: unknown): string | undefined {
  const hex = head.toString('hex')
  const [, said] = marks.find(([mark]) => mark.test(hex)) ?? []
  if (said !== undefined) return said
  if (/^(?:\uFEFF)?\s*<(?:!doctype\s+html|html)\b/i.test(head.toString('utf8'))) {
    return 'it is a page of a website, such as a login or an error: fetch the file anew'
  }
  return Object(thrown).code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
    ? 'its text is not in UTF-8, perhaps in Latin-1 or Windows-1252, and must be in UTF-8'
    : undefined
}
