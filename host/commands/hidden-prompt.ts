import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Shell } from '../shell.ts'
import { UsageError } from './command.ts'

/**
 * Asks for secrets on a terminal, which does not show what is typed. An empty line skips a question.
 *
 * @throws UsageError after Ctrl-C or the end of the input.
 */
export async function askHidden(
  { stdin, stderr }: Shell,
  questions: readonly string[],
): Promise<string[]> {
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: unseen, terminal: true })
  const gone = new AbortController()
  lines.once('SIGINT', () => gone.abort()).once('close', () => gone.abort())
  const answers: string[] = []
  try {
    for (const question of questions) {
      stderr.write(question)
      answers.push((await lines.question('', { signal: gone.signal })).trim())
      stderr.write('\n')
    }
    return answers
  } catch {
    stderr.write('\n')
    throw new UsageError('nothing was changed: the input ended')
  } finally {
    lines.close()
  }
}
