/** Rules about answers of Adyen. */
import assert from 'node:assert/strict'
import { Sensitive } from '@tollgate/plugin-kit'
import { errors, refusals } from '../../../../connectors/adyen/reasons.ts'
import { cards } from '../../../../connectors/adyen/sandbox/sandbox.ts'
import { operationOn } from '../../../../plugins/kit/testing/operation.ts'
import { has, outcomeOf, type Scene, withInstrument } from '../scene.ts'
import { mistake, type Rule } from './rule.ts'

/** From Adyen's list of refusal reasons, as a second opinion about the table of the connector. */
// biome-ignore format: a table reads best in lines of a few rows.
const refused: Readonly<Record<string, string>> = {
  '2': '800.100.152', '3': '800.100.152', '4': '900.100.201', '5': '800.100.160', '6': '800.100.157',
  '7': '800.100.174', '8': '800.100.151', '9': '900.100.600', '10': '800.100.170', '11': '100.390.112',
  '12': '800.100.155', '14': '800.100.158', '15': '100.396.101', '16': '100.396.101', '17': '800.100.166',
  '18': '800.100.178', '19': '800.100.166', '20': '800.100.158', '21': '800.100.154', '22': '800.100.158',
  '23': '800.100.170', '24': '800.100.153', '25': '800.100.168', '26': '800.100.403', '27': '800.100.152',
  '28': '800.100.162', '29': '800.100.179', '31': '800.100.158', '32': '800.100.152', '33': '800.100.166',
  '34': '800.100.195', '35': '800.100.195', '38': '300.100.100', '39': '100.390.111', '42': '100.390.112',
  '46': '800.100.163', '99': '800.100.100',
}

// biome-ignore format: a table reads best in lines of a few rows.
const erroneous: Readonly<Record<string, string>> = {
  '000': '900.100.200', '010': '900.100.200', '100': '100.550.300', '101': '800.100.151', '102': '100.100.700',
  '103': '100.100.601', '104': '800.100.156', '129': '100.100.201', '130': '900.100.200', '132': '900.100.200',
  '137': '100.550.303', '138': '100.550.401', '140': '100.100.201', '141': '100.100.301', '142': '100.100.301',
  '153': '800.100.153', '167': '900.100.202', '174': '900.100.200', '901': '900.100.200', '903': '900.100.200',
  '14_030': '900.100.200',
}

/** Every row of a table with another reason. */
const rowsOf = (table: Readonly<Record<string, string>>) =>
  Object.entries(table).map(([code, reason]) =>
    mistake('reasons', `'${code}': '${reason}', //`, `'${code}': '800.100.176', //`),
  )

async function mustBeUnknown(scene: Scene, holder: string): Promise<void> {
  const { is } = await outcomeOf(scene, 'debit', holder)
  assert.equal(is, 'unknown', holder)
}

export const answerRules: readonly Rule[] = [
  {
    rule: 'a refusal has the reason of its code, and the code itself',
    async run(scene) {
      for (const [code, reason] of Object.entries(refused)) {
        has(
          await outcomeOf(scene, 'debit', `REFUSED ${code}`),
          { is: 'declined', reason, code },
          code,
        )
      }
    },
    mistakes: [
      ...rowsOf(refusals),
      mistake('answers', "...(code === '' ? {} : { code }),", ''),
      mistake('answers', 'refusalReasonFor(code)', "'800.100.100'"),
    ],
  },
  {
    rule: 'a refused request is declined with the reason of its error',
    async run(scene) {
      for (const [code, reason] of Object.entries(erroneous)) {
        const outcome = await outcomeOf(scene, 'debit', `ERROR 422 ${code} validation`)
        has(outcome, { is: 'declined', reason, code }, code)
      }
      for (const type of ['security', 'configuration']) {
        has(await outcomeOf(scene, 'debit', `ERROR 403 901 ${type}`), { is: 'declined' }, type)
      }
    },
    mistakes: [
      ...rowsOf(errors),
      mistake('reasons', "reasonTable(errors, '900.100.200')", 'reasonTable(errors)'),
      mistake('answers', "'validation', 'security', 'configuration'", "'validation', 'security'"),
      mistake(
        'answers',
        "'validation', 'security', 'configuration'",
        "'validation', 'configuration'",
      ),
    ],
  },
  {
    rule: 'a refused login or set-up says nothing about what is done to a payment, and a refused request does',
    async run(scene) {
      const { stage, paid } = scene
      const authorised = await paid('authorize')
      const answered = async (status: number, errorType: string) => {
        const body = JSON.stringify({ status, errorCode: '901', errorType, message: 'No' })
        const damage = { do: 'replace', status, type: 'application/json', body } as const
        stage.front.meet({ reaches: false, damage }, 'moving')
        return (await stage.perform(operationOn(stage.connector, 'capture', authorised))).outcome
      }
      for (const [status, type] of [
        [401, 'security'],
        [403, 'security'],
        [401, 'validation'],
        [403, 'validation'],
        [422, 'configuration'],
        [422, 'security'],
      ] as const) {
        has(await answered(status, type), { is: 'unknown' }, `${status} ${type}`)
      }
      has(await answered(422, 'validation'), { is: 'declined' }, 'validation')
    },
    mistakes: [
      mistake('answers', 'if (refused?.isOfAccess === true) {', 'if (false) {'),
      mistake(
        'answers',
        "status === 401 || status === 403 || errorType !== 'validation'",
        "status === 403 || errorType !== 'validation'",
      ),
      mistake(
        'answers',
        "status === 401 || status === 403 || errorType !== 'validation'",
        "status === 401 || errorType !== 'validation'",
      ),
      mistake(
        'answers',
        "status === 401 || status === 403 || errorType !== 'validation'",
        'status === 401 || status === 403',
      ),
      mistake('answers', "status === 401 || status === 403 || errorType !== 'validation'", 'true'),
    ],
  },
  {
    rule: 'a request in progress, an error of the system and a failure of the server leave the outcome unknown',
    async run(scene) {
      await mustBeUnknown(scene, 'ERROR 422 704 validation')
      await mustBeUnknown(scene, 'ERROR 422 901 internal')
      await mustBeUnknown(scene, 'ERROR 500 905 configuration')
      await mustBeUnknown(scene, 'ERROR 503 101 validation')
      await mustBeUnknown(scene, 'ERROR 409 101 validation')
      for (const code of [
        'Error',
        'Success',
        'PresentToShopper',
        'AuthenticationFinished',
        'New',
      ]) {
        await mustBeUnknown(scene, `RESULT ${code}`)
      }
    },
    mistakes: [
      mistake('answers', '|| code === inProgress', ''),
      mistake('answers', '|| !refusing.has(errorType)', ''),
      mistake('answers', '![400, 401, 403, 422].includes(status)', 'status < 400'),
      mistake(
        'answers',
        '![400, 401, 403, 422].includes(status)',
        '(status < 400 || status >= 500)',
      ),
      mistake('reasons', "inProgress = '704'", "inProgress = '705'"),
      mistake('answers', "case 'Refused':", "case 'Refused': case 'Error':"),
    ],
  },
  {
    rule: 'an error body of another status than its own proves nothing',
    async run(scene) {
      const { stage } = scene
      const change = (body: string) => JSON.stringify({ ...JSON.parse(body), status: 400 })
      stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'moving')
      await mustBeUnknown(scene, 'ERROR 422 101 validation')
    },
    mistakes: [mistake('answers', '|| said !== status', '')],
  },
  {
    rule: 'a cancelled payment is the shopper’s own decision, and a payment that needs a script is declined',
    async run(scene) {
      const cancelled = await outcomeOf(scene, 'debit', 'RESULT Cancelled')
      has(cancelled, { is: 'declined', reason: '100.396.101' }, 'Cancelled')
      for (const code of ['IdentifyShopper', 'ChallengeShopper']) {
        has(await outcomeOf(scene, 'debit', `RESULT ${code}`), { is: 'declined', code }, code)
      }
    },
    mistakes: [
      mistake('answers', "isCancelled ? '100.396.101' :", ''),
      mistake('answers', "case 'IdentifyShopper':", ''),
      mistake('answers', "case 'ChallengeShopper':", ''),
      mistake('answers', "case 'Cancelled':", ''),
    ],
  },
  {
    rule: 'a payment that is received or pending is open until an event tells its end',
    async run(scene) {
      for (const code of ['Received', 'Pending']) {
        has(
          await outcomeOf(scene, 'debit', `RESULT ${code}`),
          { is: 'pending', next: 'event' },
          code,
        )
      }
    },
    mistakes: [
      mistake('answers', "case 'Pending':", ''),
      mistake('answers', "case 'Received':", ''),
    ],
  },
  {
    rule: 'a partial approval names its amount, and without one nothing is known',
    async run({ stage, first }) {
      const answers: readonly [object, object][] = [
        [
          { amount: { value: 4600, currency: 'EUR' } },
          { is: 'approved', amount: { minor: 4600n, currency: 'EUR' } },
        ],
        [{ amount: undefined }, { is: 'unknown' }],
        [{ amount: { value: '9200', currency: 'EUR' } }, { is: 'unknown' }],
        [
          { resultCode: 'Authorised', amount: { value: '9200', currency: 'EUR' } },
          { is: 'unknown' },
        ],
      ]
      for (const [fields, expected] of answers) {
        const change = (body: string) =>
          JSON.stringify({ ...JSON.parse(body), resultCode: 'PartiallyAuthorised', ...fields })
        stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'moving')
        has((await stage.perform(first('debit'))).outcome, expected, JSON.stringify(fields))
      }
    },
    mistakes: [
      mistake('answers', "case 'PartiallyAuthorised':", ''),
      mistake('answers', "|| json.resultCode !== 'Authorised'", ''),
      mistake('answers', 'json.amount !== undefined ||', ''),
    ],
  },
  {
    rule: 'an answer names its payment, and an approval has a reference of Adyen',
    async run({ stage, first }) {
      for (const name of ['merchantReference', 'pspReference']) {
        const change = (body: string) => JSON.stringify({ ...JSON.parse(body), [name]: undefined })
        stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'moving')
        has((await stage.perform(first('debit'))).outcome, { is: 'unknown' }, `without ${name}`)
      }
    },
    mistakes: [
      mistake(
        'answers',
        'if (!isOurs && !isRedirectWithoutName(json, merchantReference)) {',
        'if (false) {',
      ),
      mistake(
        'answers',
        "resultCode === 'RedirectShopper' && reference === undefined",
        'reference === undefined',
      ),
    ],
  },
  {
    rule: 'an approval has the checks of address and code, the reference of the scheme and the code of the issuer',
    async run({ stage, paid }) {
      const { outcome } = await paid('authorize')
      has(outcome, { is: 'approved', avs: 'F', cvv: 'M' }, 'checks')
      assert.match((outcome as { networkTxId?: string }).networkTxId ?? '', /^MCC[0-9a-f]{12}$/)
      assert.deepEqual((outcome as { details?: object }).details, { AuthCode: '044925' })
      assert.deepEqual(Object.keys(outcome.refs), ['payment'])
      for (const [avsResult, cvcResult, avs, cvv] of checks) {
        const change = (body: string) => {
          const json = JSON.parse(body)
          return JSON.stringify({ ...json, additionalData: { avsResult, cvcResult } })
        }
        stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'moving')
        const { outcome: told } = await stage.perform(await stage.prepare('debit'))
        const { avs: a, cvv: c } = told as { avs?: string; cvv?: string }
        assert.deepEqual([a, c], [avs, cvv], `${avsResult}, ${cvcResult}`)
      }
    },
    mistakes: [
      mistake(
        'answers',
        '...(isText(networkTxReference) ? { networkTxId: networkTxReference } : {}),',
        '',
      ),
      mistake('answers', '...(isText(authCode) ? { details: { AuthCode: authCode } } : {}),', ''),
      ...["'1': 'A'", "'6': 'Z'", "'7': 'F'", "'0': 'U'"].map((row) =>
        mistake('reasons', row, row.replace(/'[A-Z]'$/, "'X'")),
      ),
      mistake('reasons', "'2': 'N', '3': 'P'", "'2': 'X', '3': 'P'"),
      mistake('reasons', "'2': 'N', '3': 'U'", "'2': 'X', '3': 'U'"),
      mistake('reasons', "'1': 'M'", "'1': 'X'"),
      mistake('reasons', "'3': 'P'", "'3': 'X'"),
      mistake('reasons', "'4': 'S'", "'4': 'X'"),
    ],
  },
  {
    rule: 'what is done to a payment counts as done and may still fail, and an increase counts only when it is confirmed',
    async run(scene) {
      const { stage, paid, follow } = scene
      const authorised = await paid('authorize')
      const { outcome } = await follow('capture', authorised, 4600n)
      has(outcome, { is: 'accepted', finalBy: 'event' }, 'a capture')
      assert.equal(outcome.refs.payment, authorised.outcome.refs.payment)
      assert.match(outcome.refs.modification ?? '', /^\w{16}$/)
      const increase = await stage.prepare('increment')
      has((await stage.perform(increase)).outcome, { is: 'pending', next: 'event' }, 'an increase')
    },
    mistakes: [
      mistake('answers', "return accepted(refs, 'event')", 'return approved(refs)'),
      mistake(
        'answers',
        "if (operation.kind === 'increment') return pending('event', { refs })",
        '',
      ),
      mistake(
        'answers',
        'const refs = { payment, modification }',
        'const refs = { payment: modification }',
      ),
    ],
  },
  {
    rule: 'an answer about another operation or payment proves nothing',
    async run({ stage, paid }) {
      const fields = ['reference', 'paymentPspReference', 'status', 'pspReference']
      for (const name of fields) {
        const operation = await stage.prepare('capture')
        const change = (body: string) => JSON.stringify({ ...JSON.parse(body), [name]: '' })
        stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'moving')
        has((await stage.perform(operation)).outcome, { is: 'unknown' }, `another ${name}`)
      }
      for (const [kind, is] of [
        ['reverse', 'accepted'],
        ['capture', 'unknown'],
      ] as const) {
        const operation = await stage.prepare(kind)
        // The name that a cancellation had in an earlier version.
        const reference = `rv.${operation.key}`
        const change = (body: string) => JSON.stringify({ ...JSON.parse(body), reference })
        stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'moving')
        has((await stage.perform(operation)).outcome, { is }, `${kind} by an earlier name`)
      }
      await paid('debit')
    },
    mistakes: [
      mistake(
        'answers',
        'json.reference !== undefined && !isNameOf(operation, json.reference)',
        'false',
      ),
      mistake('references', "(operation.kind === 'reverse' && name", '(false && name'),
      mistake('references', "(operation.kind === 'reverse' && name", '(name'),
      mistake('answers', 'return isTaken && isOurs ?', 'return isTaken ?'),
      mistake('answers', "&& json.status === 'received'", ''),
    ],
  },
  {
    rule: 'a shopper who refuses is declined, and a result of elsewhere leaves the payment on its page',
    async run({ stage, first, adyen }) {
      const away = async () => {
        const operation = withInstrument(first('debit'), { ...instrumentOf(cards.redirect) })
        const { outcome } = await stage.perform(operation)
        assert.ok(
          outcome.is === 'pending' &&
            typeof outcome.next === 'object' &&
            'redirect' in outcome.next,
        )
        assert.equal(
          'refs' in outcome && outcome.refs !== undefined,
          false,
          'no reference: it is not authorised',
        )
        return { operation, outcome, url: outcome.next.redirect.url }
      }
      const refusing = await away()
      const page = await fetch(`${refusing.url}?answer=no`, { redirect: 'manual' })
      const query = Object.fromEntries(new URL(page.headers.get('location')!).searchParams)
      const brought = (fields: Readonly<Record<string, string>>) =>
        ({ method: 'GET', query: fields, form: {} }) as const
      const other = await away()
      // The result of another payment, and one that Adyen refuses: the shopper can still come back.
      for (const fields of [query, { redirectResult: 'forged' }, {}]) {
        const { outcome, attempts } = await stage.complete(
          other.operation,
          other.outcome,
          brought(fields as never),
        )
        assert.equal(
          attempts.length,
          'redirectResult' in fields ? 1 : 0,
          'without a result nobody is asked',
        )
        has(
          outcome,
          { is: 'pending', next: (other.outcome as { next: unknown }).next },
          JSON.stringify(fields),
        )
      }
      const { outcome } = await stage.complete(refusing.operation, refusing.outcome, brought(query))
      has(outcome, { is: 'declined', reason: '100.390.112' }, 'refused by the shopper')
      await fetch(`${other.url}?answer=yes`, { redirect: 'manual' })
      const result = other.url.split('/').at(-1)!
      const paid = await stage.complete(
        other.operation,
        other.outcome,
        brought({ redirectResult: result }),
      )
      assert.equal(paid.outcome.is, 'approved', 'the forged result used up no name')
      assert.ok(adyen.exchanges.every(({ path }) => path.startsWith('/v71/')))
    },
    mistakes: [
      mistake(
        'answers',
        'return isOurs ? outcomeOf(json, operation) : away',
        'return outcomeOf(json, operation)',
      ),
      mistake('answers', 'if (readError(answer, json) !== undefined) return away', ''),
      mistake('index', 'update(`', 'update(operation.key ?? `'),
      mistake(
        'index',
        "if (redirectResult === undefined || redirectResult === '') return awayFrom(memo)",
        '',
      ),
      mistake(
        'answers',
        'return pending({ redirect: page }, { memo })',
        "return pending({ redirect: page }, { memo, refs: { payment: payment ?? '' } })",
      ),
      mistake(
        'answers',
        'return pending({ redirect }, { memo: memo as Json })',
        "return pending('event')",
      ),
    ],
  },
  {
    rule: 'the check names the settings that Adyen refused, and a failure says nothing about them',
    async run({ stage, settings }) {
      const { check } = stage.connector
      const ask = (account: object) =>
        stage.call((context) => check!(context), { account: account as never })
      assert.deepEqual((await ask(settings)).returned, { ok: true })
      for (const wrong of [{ apiKey: 'x'.repeat(20) }, { merchantAccount: 'OtherMerchant' }]) {
        const { returned } = await ask({ ...settings, ...wrong })
        assert.equal(returned?.ok, false)
        assert.match(returned?.ok === false ? returned.why : '', /apiKey or merchantAccount/)
      }
      stage.front.meet(
        {
          reaches: false,
          damage: { do: 'replace', status: 502, type: 'text/html', body: '<html>' },
        },
        'any',
      )
      assert.ok((await ask(settings)).thrown instanceof Error, 'no answer is no refusal')
    },
    mistakes: [
      mistake(
        'answers',
        'if (answer.status === 200 && Array.isArray(json.paymentMethods)) return { ok: true }',
        'return { ok: true }',
      ),
      mistake(
        'answers',
        'if (refused === undefined) throw new',
        "if (refused === undefined) return { ok: false, why: 'apiKey or merchantAccount' }\n  if (refused === null) throw new",
      ),
    ],
  },
]

// biome-ignore format: a table reads best with one row on one line.
const checks = [
  ['1 Address matches, postal code doesn\'t', '2 Doesn\'t match', 'A', 'N'],
  ['2 Neither postal code nor address match', '3 Not checked', 'N', 'P'],
  ['6 Postal code matches, address doesn\'t match', '4 No CVC/CVV provided, but was required', 'Z', 'S'],
  ['0 Unknown', '0 Unknown', 'U', undefined],
  ['', '', undefined, undefined],
] as const

const instrumentOf = (number: string) => ({
  number: new Sensitive(number),
  bin: number.slice(0, 6),
  last4: number.slice(-4),
})
