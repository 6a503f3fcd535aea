/** Bytes of acquirers as text and JSON. */

/** Bytes in UTF-8 as text, without the byte-order mark that some acquirers write before it. */
export const readText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/**
 * JSON in UTF-8, with or without a byte-order mark, of an answer or a message.
 *
 * @throws Error for anything else, without quoting it.
 */
export function readJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(readText(bytes)) as unknown
  } catch {
    // The parser's own message quotes the text, so it is not passed on, not even as a cause.
    throw new Error(`the ${bytes.length} bytes are not JSON`)
  }
}
