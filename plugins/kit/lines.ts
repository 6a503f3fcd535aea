/** Text files of acquirers: the same lines, however a system on their way wrote line ends. */

/** No line of a settlement file comes near. A file without line ends must not fill the memory. */
const longestLine = 65_536

/**
 * The text of a file in UTF-8, in parts: without a byte-order mark, and with `\n` for each line end, be it LF, CRLF or
 * CR. So a file that was saved anew has the same lines, the same numbers of lines, and the same keys of its records.
 *
 * @throws TypeError for another encoding. The engine tells operators which it may be.
 */
export async function* textIn(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let held = ''
  for await (const chunk of bytes) {
    const text = held + decoder.decode(chunk, { stream: true })
    // It may be the first half of a CRLF.
    held = text.endsWith('\r') ? '\r' : ''
    const ready = text.slice(0, text.length - held.length).replace(/\r\n?/g, '\n')
    if (ready !== '') yield ready
  }
  const rest = (held + decoder.decode()).replace('\r', '\n')
  if (rest !== '') yield rest
}

/**
 * The lines of such a file. The last one needs no end, so a format without a trailer has to tell a line that is cut off
 * from a whole one.
 *
 * @throws TypeError as `textIn`, RangeError for a line that is too long.
 */
export async function* linesIn(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of textIn(bytes)) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    if (rest.length > longestLine) throw new RangeError('a line is too long')
    yield* lines
  }
  if (rest !== '') yield rest
}

const separators = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const

/** Why the first line of a file has no cells: another program separated them by another sign. Else undefined. */
export function wrongSeparator(line: string, right: keyof typeof separators): string | undefined {
  if (line.includes(right)) return undefined
  const [, found] = Object.entries(separators).find(([sign]) => line.includes(sign)) ?? []
  return found && `the cells are separated by ${found}, and must be by ${separators[right]}`
}
