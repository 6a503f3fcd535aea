import { operationNamed } from '../../schemas/index.ts'
import { type Attack, triedOf } from './attack.ts'
import { own } from './ground.ts'
import { wrongWith } from './judge.ts'
import { debitFields } from './payments.ts'
import { exchange, get, post, requestBytes, sendAll } from './wire.ts'

const mark = 'INJECTED-7f3a'
const forged = `{"level":"info","msg":"${mark}"}`

/** Characters that end a line, move a terminal or split a line for some reader. */
const spellings: readonly string[] = [
  `\n${forged}\n`,
  `\r\n${forged}`,
  `\u001b[2J\u001b[31m${mark}`,
  `\u2028${forged}\u2029`,
  `\u0085${forged}`,
  `\u0000${mark}`,
  `\u202e${mark}`,
  `"}\n${forged}`,
  `\\n${mark}`,
  `%0a${mark}`,
]

export const logInjection: Attack = {
  name: 'logs',
  title: 'ends of lines, terminal sequences and forged entries in everything a client can write',
  async run(run) {
    const { ground, random } = run
    const host = await ground.host()
    const token = ground.tokens[0]!
    host.log.forbid([mark])
    const before = host.log.requests
    const names = [
      ...triedOf(
        run.profile,
        operationNamed('payments.create').fields.map(({ name }) => name),
      ),
      ...spellings,
    ].map((name) => name.replaceAll('[n]', '[0]').replace('[name]', '[abc]'))
    const requests = names.flatMap((name) =>
      (run.profile === 'full' ? spellings : [random.pick(spellings), random.pick(spellings)]).map(
        (spelling) =>
          post('/v1/payments', token, { ...debitFields, entityId: own.channel, [name]: spelling }),
      ),
    )
    for (const spelling of spellings) {
      const encoded = encodeURIComponent(spelling)
      const latin = spelling.replaceAll(/[\u0000-\u001f\u007f]|[^\u0000-\u00ff]/g, '')
      requests.push(
        get(`/v1/payments/${encoded}`, token),
        get(`/v1/payments/${'0'.repeat(32)}?entityId=${encoded}`, token),
        get(`/${encoded}`, token),
        get('/v1/resultcodes', latin.replaceAll(' ', '')),
        requestBytes(
          'GET',
          '/nothing',
          [
            ['User-Agent', latin],
            ['X-Request-Id', latin],
            ['X-Forwarded-For', latin],
            ['Referer', latin],
            ['Cookie', latin],
          ],
          undefined,
        ),
        post('/v1/payments', token, debitFields, [['Idempotency-Key', latin]]),
        requestBytes('POST', `/connectors/${encoded}/${encoded}/events`, [], Buffer.from(spelling)),
      )
    }
    const answers = await sendAll(host.url, requests, {
      connections: 4,
      pipelined: 8,
      withinMs: 60_000,
    })
    for (const [at, answer] of answers.entries()) {
      const wrong = wrongWith(answer)
      const isList = answer.status === 200 && answer.body.startsWith('{"resultCodes"')
      if (wrong !== undefined && !isList) run.find(wrong, requests[at]!.toString())
    }
    let raw = 0
    for (const spelling of spellings) {
      const bytes = `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${spelling}\r\n\r\n`
      raw += (await exchange(host.url, bytes, 5_000)).answers.length
    }
    const sent = requests.length + spellings.length
    // Successful health checks are not logged.
    await host.log.untilRequests(before + requests.length)
    for (const line of host.log.wrong) run.find('a line of the log is broken or forged', line)
    return { requests: sent, 'raw answers': raw, 'log lines': host.log.requests - before }
  },
}
