/**
 * Runs command lines one after the other in this process. Standard input has them as JSON; each line of
 * output is the result of one.
 */
import { text } from 'node:stream/consumers'
import { main } from '../../../host/cli.ts'

const lines: string[][] = JSON.parse(await text(process.stdin))
const result = process.stdout.write.bind(process.stdout)
for (const one of [process, process.stdout, process.stderr]) one.setMaxListeners(0)
for (const words of lines) {
  const said = { out: '', err: '' }
  process.exitCode = 0
  for (const [name, stream] of [
    ['out', process.stdout],
    ['err', process.stderr],
  ] as const) {
    stream.write = ((chunk: string) => {
      said[name] += chunk
      return true
    }) as typeof stream.write
  }
  await main(words)
  result(`${JSON.stringify({ words, code: process.exitCode, ...said })}\n`)
}
process.exit(0)
