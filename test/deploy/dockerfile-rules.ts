/** Rules for images, as hadolint and scanners of clusters have them. */
import { DockerfileParser, type From, type Instruction } from 'dockerfile-ast'

/** An exact version or a digest: the same file makes the same image tomorrow. */
const exact = /:(?=[^:/@]*\d+\.\d+(?:\.\d+)?)[^:/@]+$|@sha256:[0-9a-f]{64}$/
const secretName = /password|passwd|secret|token|api_?key|tollgate_keys|database_url/i

/** What is wrong with a Dockerfile; empty: nothing. */
export function problemsOf(text: string): string[] {
  const file = DockerfileParser.parse(text)
  const instructions = file.getInstructions()
  const named = (keyword: string) => instructions.filter((one) => one.getKeyword() === keyword)
  const textOf = (one: Instruction) => one.getTextContent()
  const stages = named('FROM') as From[]
  const stageNames = new Set(stages.flatMap((from) => from.getBuildStage() ?? []))
  const last = stages.at(-1)
  const lastLine = last?.getRange().start.line ?? 0
  const inLast = (keyword: string) =>
    named(keyword).filter((one) => one.getRange().start.line > lastLine)
  const user = inLast('USER').at(-1)
  const found: string[] = []
  for (const from of stages) {
    const image = from.getImage() ?? ''
    if (!stageNames.has(image) && !exact.test(image)) {
      found.push(`the base ${image} has no exact version`)
    }
  }
  if (user === undefined) found.push('no USER: the process runs as root')
  else if (!/^USER [1-9]\d*(?::[1-9]\d*)?$/.test(textOf(user))) {
    found.push(`${textOf(user)} is not a number above 0`)
  }
  for (const one of [...named('ENV'), ...named('ARG')]) {
    if (secretName.test(textOf(one))) found.push(`${textOf(one)} may hold a secret`)
  }
  for (const one of named('ADD')) found.push(`${textOf(one)}: use COPY`)
  for (const one of named('RUN')) {
    if (/\b(?:sudo|curl|wget)\b|chmod\s+(?:-R\s+)?777|npm install\b/.test(textOf(one))) {
      found.push(`${textOf(one)}: fetches what no lock file pins, or opens rights`)
    }
  }
  for (const one of inLast('COPY')) {
    if (!/--from=/.test(textOf(one))) found.push(`${textOf(one)}: copies sources into the image`)
  }
  for (const keyword of ['ENTRYPOINT', 'CMD', 'HEALTHCHECK']) {
    const one = inLast(keyword).at(-1)
    if (one === undefined) found.push(`no ${keyword}`)
    else if (!/\[".*"\]$/s.test(textOf(one))) {
      found.push(`${textOf(one)} goes through a shell, which passes no signals on`)
    }
  }
  const workdir = inLast('WORKDIR').at(-1)
  if (workdir === undefined || !/^WORKDIR \//.test(textOf(workdir)))
    found.push('no absolute WORKDIR')
  return found
}
