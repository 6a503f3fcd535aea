/** Checks of the sources. */
import { join } from 'node:path'
import { root } from '../rig/sources.ts'
import { run } from './processes.ts'

const programs = join(root, 'node_modules/.bin')
const node = (file: string) => ({
  program: process.execPath,
  choices: ['--conditions=@tollgate/source', file, '--check'],
})
const checks = [
  { name: 'generated files are current', steps: [node('test/generate/main.ts')] },
  { name: 'documentation is current', steps: [node('test/docs/main.ts')] },
  {
    name: 'types',
    steps: [
      { program: join(programs, 'tsc'), choices: ['-b'] },
      { program: join(programs, 'tsc'), choices: ['-p', 'test/tsconfig.json'] },
    ],
  },
  { name: 'style', steps: [{ program: join(programs, 'biome'), choices: ['check', '.'] }] },
]

/** Runs them one after the other, beside the tests. @returns how many failed. */
export async function checkSources(): Promise<number> {
  let failed = 0
  for (const { name, steps } of checks) {
    const since = performance.now()
    const results = []
    for (const { program, choices } of steps) results.push(await run(program, choices))
    const isFine = results.every(({ code }) => code === 0)
    if (!isFine) failed += 1
    const seconds = ((performance.now() - since) / 1000).toFixed(1)
    const said = results.map((result) => result.said).join('')
    console.log(isFine ? `✔ ${name} (${seconds} s)` : `✖ ${name}\n${said.trimEnd()}\n`)
  }
  return failed
}
