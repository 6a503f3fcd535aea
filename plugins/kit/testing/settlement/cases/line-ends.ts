import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import type { SettlementCase } from '../case.ts'
import { sample, samples } from '../harness.ts'

/** A file on its way to Tollgate: other systems write line ends, encodings and separators of their own. */
const isText = (bytes: Uint8Array): boolean => {
  const text = Buffer.from(bytes).toString('utf8')
  return Buffer.from(text).equals(bytes) && !text.includes('\0')
}

const needsText: NonNullable<SettlementCase['without']> = (_settlement, { write }) =>
  isText(write(samples)) ? undefined : 'the files are no text in UTF-8'

export const lineEnds: readonly SettlementCase[] = [
  {
    name: 'line ends, a byte-order mark and a missing last line end change no element',
    without: needsText,
    async run({ read, sandbox }) {
      const file = Buffer.from(sandbox.write(samples))
      const { items } = await read(file)
      const text = file.toString('utf8').replace(/^\uFEFF/, '')
      const lines = text.split(/\r\n|\r|\n/)
      const isEnded = lines.at(-1) === ''
      for (const [name, end] of Object.entries({ LF: '\n', CRLF: '\r\n', CR: '\r' })) {
        const whole = lines.join(end)
        const cut = isEnded ? whole.slice(0, -end.length) : whole
        for (const [what, other] of [
          [name, whole],
          [`${name} and a byte-order mark`, `\uFEFF${whole}`],
          [`${name}, and none at the end`, cut],
        ] as const) {
          for (const size of [1, 7, 1000]) {
            const reading = await read(Buffer.from(other), size)
            assert.equal(reading.is, 'taken', `${what}: ${'why' in reading ? reading.why : ''}`)
            // The text and the number of a line as well: the engine makes keys of the text.
            assert.deepEqual(reading.items, items, `${what}, in chunks of ${size} bytes`)
          }
        }
      }
    },
  },
  {
    name: 'a file in another encoding, with other separators or compressed is refused, or read the same',
    without: needsText,
    async run({ read, sandbox }) {
      const file = Buffer.from(sandbox.write([...samples, sample({ reference: 'ordér' })]))
      const { items } = await read(file)
      const text = file.toString('utf8')
      const others = {
        'UTF-16': Buffer.from(`\uFEFF${text}`, 'utf16le'),
        'UTF-16 without a mark': Buffer.from(text, 'utf16le'),
        'Latin-1': Buffer.from(text, 'latin1'),
        gzip: gzipSync(file),
        'other separators': Buffer.from(
          text.replace(/[,;]/g, (sign) => (sign === ',' ? ';' : ',')),
        ),
      }
      for (const [what, bytes] of Object.entries(others)) {
        // Nothing of it is another separator or another encoding.
        if (bytes.equals(file)) continue
        const reading = await read(bytes)
        if (reading.is === 'taken') assert.deepEqual(reading.items, items, what)
      }
    },
  },
]
