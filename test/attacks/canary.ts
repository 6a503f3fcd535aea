import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import simulator from '../../connectors/simulator/index.ts'
import { createGateway, localKeys } from '../../core/index.ts'
import { testKey } from '../rig/gateway.ts'
import { leavesOf } from '../rig/leaves.ts'
import { startReceiver } from '../rig/notification-receiver.ts'
import type { Attack, AttackRun } from './attack.ts'
import { checkoutWays, payInCheckouts } from './canary-checkout.ts'
import plugin, { canaryConnector, echoVariable } from './canary-plugin.ts'
import { type Ground, layGround, own } from './ground.ts'
import type { Host } from './host.ts'
import { cardNumber, debitFields } from './payments.ts'
import type { Random } from './random.ts'
import { type Answer, get, post, requestBytes, sendAll } from './wire.ts'

/** Every secret input. Security codes are too short to be found except as whole values. */
export type Canaries = {
  readonly numbers: Record<string, string>
  readonly ibans: string[]
  readonly codes: string[]
  readonly tokens: string[]
  readonly holder: string
}

export const canary: Attack = {
  name: 'canary',
  title: 'card numbers, codes, IBANs, tokens and names: where they are afterwards',
  async run(run) {
    // A database of its own, because the scan reads every column of every table.
    const ground = await layGround()
    const echo = await openEcho()
    const folder = join(ground.folder, 'project')
    mkdirSync(folder)
    writeFileSync(
      join(folder, 'tollgate.config.ts'),
      `import plugin from ${JSON.stringify(join(import.meta.dirname, 'canary-plugin.ts'))}\nexport default { plugins: [plugin] }\n`,
    )
    const authenticating = await openAccount(ground.databaseUrl)
    const host = await ground.another(
      {
        [echoVariable]: echo.url,
        TOLLGATE_CONNECTOR_TIMEOUT_MS: '1000',
        TOLLGATE_ALLOW_LOOPBACK_FOR_MERCHANTS: 'true',
      },
      folder,
    )
    const shop = await startReceiver()
    try {
      const canaries = makeCanaries(run.random, ground)
      const long = [...Object.values(canaries.numbers), ...canaries.ibans, ...canaries.tokens]
      host.log.forbid([...long, canaries.holder])
      const answers = await payAll(host, canaries)
      const atCheckouts = await payInCheckouts(run, { host, shop, echo, canaries, authenticating })
      judgeAnswers(run, [...answers, ...atCheckouts.answers], canaries)
      long.push(...atCheckouts.returnTokens)
      // Measured right after connectors threw and hung, and reported without a verdict.
      const atOnce = await inMemory(host, ground, long)
      const tables = await judgeTables(run, ground, canaries, long)
      const log = await judgeWriteAheadLog(run, ground, long)
      const left = await quietMemory(host, ground, canaries)
      for (const number of left) run.find('a card number stays in memory', kindOf(number, canaries))
      for (const line of host.log.wrong) run.find('a canary is in the log', line)
      for (const line of host.log.faults) run.find('a fault of the gateway', line)
      return {
        canaries: long.length + canaries.codes.length,
        payments: answers.length,
        'answers of checkouts': atCheckouts.answers.length,
        notifications: shop.received.length,
        'columns read': tables,
        'MB of write-ahead log': log,
        'log lines': host.log.lines,
        'numbers in memory at once': atOnce.filter((text) => !canaries.tokens.includes(text))
          .length,
        'after a quiet time': left.length,
      }
    } finally {
      await host.close()
      await shop.close()
      await echo.close()
      await ground.close()
    }
  },
}

const kindOf = (number: string, { numbers }: Canaries) =>
  Object.entries(numbers).find(([, value]) => value === number)?.[0] ?? 'an IBAN'

function makeCanaries(random: Random, ground: Ground): Canaries {
  const ways = [
    'approved',
    'declined',
    'refused',
    'throws',
    'hangs',
    'echoes',
    'remembers',
    'asks',
    'path',
    'query',
    'broken',
    'name',
    'twice',
    'key',
    'freeName',
    'underscores',
    'fullWidth',
    'reference',
    'foreign',
    ...checkoutWays,
  ]
  const numbers = Object.fromEntries(ways.map((way) => [way, cardNumber(`42${random.digits(13)}`)]))
  return {
    numbers,
    ibans: Array.from({ length: 3 }, () => ibanOf(random.digits(18))),
    codes: ['761', '762'],
    tokens: ground.tokens.slice(0, 3),
    holder: `Canary ${random.text('ABCDEFGHIJKLMNOPQRSTUVWXYZ', 12)}`,
  }
}

/** A German IBAN of these digits, with its check digits. */
function ibanOf(digits: string): string {
  const check = 98n - (BigInt(`${digits}131400`) % 97n)
  return `DE${String(check).padStart(2, '0')}${digits}`
}

/** @returns a channel that authenticates the shoppers of its checkouts. */
async function openAccount(url: string): Promise<string> {
  const gateway = await createGateway({
    database: { url },
    plugins: [simulator, plugin],
    environment: 'test',
    keys: localKeys(testKey),
    role: 'api',
    migrate: false,
  })
  const account = {
    channelId: own.channel,
    connector: canaryConnector,
    mode: 'EXTERNAL',
    settings: {},
  } as const
  try {
    await gateway.entities.createAccount(account)
    return await gateway.entities.create({
      kind: 'channel',
      name: 'Authenticating',
      parentId: own.merchant,
      settings: { threeDSecure: 'on' },
    })
  } finally {
    await gateway.close()
  }
}

/** An acquirer that echoes every byte. */
async function openEcho() {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => bodies.push(Buffer.concat(parts).toString()))
    request.pipe(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/charge`,
    /** As they arrived. */
    bodies,
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

export type Sent = { readonly way: string; readonly answer: Answer }

async function payAll(host: Host, canaries: Canaries): Promise<Sent[]> {
  const { numbers, ibans, codes, tokens, holder } = canaries
  const card = (way: string, more: Record<string, string> = {}) =>
    post('/v1/payments', tokens[0]!, {
      ...debitFields,
      entityId: own.channel,
      merchantTransactionId: `${way}-canary`,
      'card.number': numbers[way]!,
      'card.holder': holder,
      'card.cvv': codes[0]!,
      ...more,
    })
  const bank = (iban: string, more: Record<string, string>) =>
    post('/v1/payments', tokens[1]!, {
      entityId: own.channel,
      amount: '92.00',
      currency: 'EUR',
      paymentType: 'DB',
      paymentBrand: 'DIRECTDEBIT_SEPA',
      'bankAccount.holder': holder,
      'bankAccount.iban': iban,
      'bankAccount.bic': 'MARKDEF1100',
      ...more,
    })
  const external = { testMode: 'EXTERNAL' }
  const requests: Record<string, Buffer> = {
    approved: card('approved', { 'card.cvv': codes[1]! }),
    declined: card('declined', { 'card.holder': '800.100.152' }),
    refused: card('refused', { currency: 'XXX', 'card.expiryMonth': '13' }),
    throws: card('throws', external),
    hangs: card('hangs', external),
    echoes: card('echoes', external),
    remembers: card('remembers', external),
    asks: card('asks', external),
    path: get(`/v1/payments/${numbers.path}`, tokens[2]),
    query: get(
      `/v1/payments/${'0'.repeat(32)}?entityId=${own.channel}&card.number=${numbers.query}`,
      tokens[2],
    ),
    broken: requestBytes(
      'POST',
      '/v1/payments',
      [
        ['Authorization', `Bearer ${tokens[2]}`],
        ['Content-Type', 'application/json'],
      ],
      Buffer.from(`{"card":{"number":"${numbers.broken}","cvv":"${codes[0]}"`),
    ),
    name: card('approved', {
      'card.number': '4200000000000000',
      [numbers.name!]: numbers.name!,
      'card.numbr': numbers.name!,
    }),
    twice: card('twice', { descriptor: `paid with ${numbers.twice}` }),
    key: requestBytes(
      'POST',
      '/v1/payments',
      [
        ['Authorization', `Bearer ${tokens[0]}`],
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['Idempotency-Key', numbers.key!],
      ],
      Buffer.from(
        new URLSearchParams({
          ...debitFields,
          entityId: own.channel,
          'card.number': numbers.key!,
          'card.holder': holder,
        }).toString(),
      ),
    ),
    freeName: card('freeName', { [`customParameters[${numbers.freeName}]`]: 'yes' }),
    underscores: card('underscores', {
      'customParameters[note]': numbers.underscores!.replace(/.{4}(?=.)/g, '$&_'),
    }),
    fullWidth: card('fullWidth', {
      'customParameters[note]': numbers.fullWidth!.replace(/[0-9]/g, (digit) =>
        String.fromCodePoint(0xff10 + Number(digit)),
      ),
    }),
    reference: card('reference', { 'cart.items[0].sku': `sku-${numbers.reference}` }),
    foreign: card('approved', {
      'card.number': '4200000000000000',
      'customParameters[note]': `other card ${numbers.foreign}`,
    }),
    code: card('approved', {
      'card.number': '4200000000000000',
      'customParameters[card_cvv]': codes[0]!,
    }),
    iban: bank(ibans[0]!, {}),
    'iban throws': bank(ibans[1]!, { ...external, merchantTransactionId: 'throws-iban' }),
    'iban echoes': bank(ibans[2]!, { ...external, merchantTransactionId: 'echoes-iban' }),
  }
  const answers = await sendAll(host.url, Object.values(requests), {
    connections: 4,
    pipelined: 1,
    withinMs: 60_000,
  })
  return Object.keys(requests).map((way, at) => ({ way, answer: answers[at]! }))
}

const expectedStatus: Readonly<Record<string, number>> = {
  approved: 200,
  declined: 400,
  refused: 400,
  throws: 200,
  hangs: 200,
  echoes: 400,
  remembers: 200,
  asks: 400,
  twice: 400,
  key: 200,
  freeName: 400,
  underscores: 400,
  fullWidth: 400,
  reference: 400,
  foreign: 400,
  code: 400,
  iban: 200,
  'iban echoes': 400,
}

function judgeAnswers(run: AttackRun, answers: readonly Sent[], canaries: Canaries): void {
  const secrets = [...Object.values(canaries.numbers), ...canaries.ibans, ...canaries.tokens]
  for (const { way, answer } of answers) {
    const expected = expectedStatus[way]
    if (expected !== undefined && answer.status !== expected) {
      run.find(
        `${way}: answered ${answer.status}, so the attack did not reach its target`,
        answer.body,
      )
    }
    const leak = secrets.find((secret) => answer.body.includes(secret))
    if (leak !== undefined) run.find(`${way}: a canary comes back`, answer.body)
    // A payment repeats its holder to the merchant who sent it; a refusal repeats no holder.
    if (answer.body.includes('parameterErrors') && answer.body.includes(canaries.holder)) {
      run.find(`${way}: a refusal names a person`, answer.body)
    }
  }
}

/**
 * Searches clear text, hex and base64, and whole values for short codes. @returns the number of
 * values read.
 */
async function judgeTables(
  run: AttackRun,
  ground: Ground,
  canaries: Canaries,
  long: readonly string[],
) {
  const leaves = await leavesOf(ground)
  const forms = long.flatMap((text) => [
    text,
    text.replace(/.{4}(?=.)/g, '$&_'),
    text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    Buffer.from(text).toString('hex'),
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
  ])
  for (const { table, column, text } of leaves) {
    // A duration can be the same number as a code by chance.
    const isCode = canaries.codes.includes(text) && column !== 'duration_us'
    if (forms.some((form) => text.includes(form)) || isCode) {
      run.find(`${table}.${column} holds a canary`, text.slice(0, 100))
    }
  }
  // Names are stored in clear, so a scan that misses them is blind.
  if (!leaves.some(({ text }) => text.includes(canaries.holder))) {
    run.find('the scan of the tables sees nothing', `${leaves.length} values`)
  }
  return leaves.length
}

async function judgeWriteAheadLog(run: AttackRun, ground: Ground, long: readonly string[]) {
  const [row] = await ground.sql<{ folder: string }>(
    "select setting as folder from pg_settings where name = 'data_directory'",
  )
  const folder = join(row!.folder, 'pg_wal')
  let bytes = 0
  for (const name of readdirSync(folder).filter((file) => /^[0-9A-F]{24}$/.test(file))) {
    const segment = readFileSync(join(folder, name))
    bytes += segment.length
    for (const text of long) {
      if (segment.includes(text)) run.find('the write-ahead log holds a canary', name)
    }
  }
  return Math.round(bytes / 1e6)
}

/** The given texts that are still reachable in the heap of the host. */
async function inMemory(host: Host, ground: Ground, texts: readonly string[]): Promise<string[]> {
  const path = join(ground.folder, 'heap.heapsnapshot')
  await host.snapshot(path)
  const snapshot = readFileSync(path)
  rmSync(path)
  return texts.filter((text) => snapshot.includes(text))
}

/**
 * The texts that remain after later requests and after every deadline. The scan repeats, because
 * texts that disappear by themselves are no finding. Access tokens are left out, since their
 * senders may return.
 */
async function quietMemory(host: Host, ground: Ground, canaries: Canaries): Promise<string[]> {
  const texts = [...Object.values(canaries.numbers), ...canaries.ibans]
  let left: string[] = []
  for (let look = 0; look < 3; look += 1) {
    const harmless = Array.from({ length: 50 }, () =>
      post('/v1/payments', ground.tokens[5]!, { ...debitFields, entityId: own.channel }),
    )
    await sendAll(host.url, harmless, { connections: 4, pipelined: 4, withinMs: 60_000 })
    left = await inMemory(host, ground, texts)
    if (left.length === 0) break
    await pause(1_000)
  }
  return left
}
