import type { DispatchFacts, DispatchRule, ListedRule } from '@tollgate/core'
import { commandLineActor } from './actor.ts'
import {
  type Command,
  type Given,
  jsonOption,
  needed,
  type Option,
  print,
  printList,
  UsageError,
} from './command.ts'
import { withInstallation } from './with-installation.ts'

const change = () => ({ by: commandLineActor() })

const list: Command = {
  name: 'entity rule list',
  summary: 'List the dispatching rules of a merchant by priority.',
  words: ['<merchant>'],
  options: jsonOption,
  async run(given, shell) {
    const [merchant = ''] = given.words
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const { rules } = await gateway.entities.dispatching.list(merchant)
      const none = 'no rules: requests must name a channel of this merchant'
      printList(given, shell, rules, { none, cells })
      return 0
    })
  },
}

function cells(rule: ListedRule): string[] {
  const notes = [
    ...(rule.channelClosed ? ['channel closed: matching requests are refused'] : []),
    ...(rule.shadowedBy === undefined
      ? []
      : [`never matches: rule ${rule.shadowedBy} matches everything before it`]),
  ]
  return [
    String(rule.priority),
    rule.channelId,
    rule.channelName,
    takenBy(rule),
    notes.length === 0 ? '' : `(${notes.join('; ')})`,
  ]
}

function takenBy(rule: DispatchRule): string {
  const parts = [
    ['brands', rule.brands],
    ['currencies', rule.currencies],
    ['types', rule.paymentTypes],
    ['countries', rule.countries],
  ].flatMap(([name, values]) => (values === undefined ? [] : [`${name} ${values}`]))
  return parts.length === 0 ? 'everything' : parts.join(', ')
}

const ruleOptions: Readonly<Record<string, Option>> = {
  priority: {
    type: 'string',
    value: 'number',
    meaning: 'Priority, 1 to 1000000. The matching rule with the lowest priority decides.',
    isRequired: true,
  },
  channel: {
    type: 'string',
    value: 'id',
    meaning: 'Channel of this merchant that the rule chooses.',
    isRequired: true,
  },
  brands: {
    type: 'string',
    value: 'list',
    meaning: 'Brands that the rule matches: VISA,MASTER. Default: all.',
  },
  currencies: {
    type: 'string',
    value: 'list',
    meaning: 'Currencies that the rule matches: EUR,USD. Default: all.',
  },
  types: {
    type: 'string',
    value: 'list',
    meaning:
      'Payment types that the rule matches: PA, DB, CD, PA.CP, and RG for a registration without a payment. Default: all.',
  },
  countries: {
    type: 'string',
    value: 'list',
    meaning: 'Countries of the payer that the rule matches: DE,AT. Default: all.',
  },
}

const add: Command = {
  name: 'entity rule add',
  summary:
    'Add a dispatching rule, which chooses the channel of requests that name only the merchant.',
  words: ['<merchant>'],
  options: ruleOptions,
  async run(given, shell) {
    const [merchant = ''] = given.words
    const rule: DispatchRule = {
      priority: numberOf(needed(given, 'priority'), '--priority'),
      channelId: needed(given, 'channel'),
      ...lists(given),
    }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      await gateway.entities.dispatching.add(merchant, rule, change())
      return 0
    })
  },
}

/** @throws UsageError */
function numberOf(text: string, what: string): number {
  if (/^[0-9]{1,7}$/.test(text)) return Number(text)
  throw new UsageError(`${what} must be a whole number, not "${text}"`)
}

function lists(given: Given): Partial<DispatchRule> {
  const { brands, currencies, types, countries } = given.options
  const part = (name: string, text: string | undefined) =>
    text === undefined ? [] : [[name, text.split(',').map((value) => value.trim())] as const]
  return Object.fromEntries([
    ...part('brands', brands),
    ...part('currencies', currencies),
    ...part('paymentTypes', types),
    ...part('countries', countries),
  ])
}

const remove: Command = {
  name: 'entity rule remove',
  summary: 'Remove the dispatching rule with this priority.',
  words: ['<merchant>', '<priority>'],
  async run(given, shell) {
    const [merchant = '', text = ''] = given.words
    const priority = numberOf(text, 'the priority')
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      await gateway.entities.dispatching.remove(merchant, priority, change())
      return 0
    })
  },
}

const example = '[{"priority":10,"channelId":"…","currencies":["EUR"]}]'

const set: Command = {
  name: 'entity rule set',
  summary: 'Replace all dispatching rules of a merchant at once.',
  words: ['<merchant>'],
  options: {
    rules: {
      type: 'string',
      value: 'json',
      meaning: `Rules as a JSON list: ${example}. [] switches dispatching off.`,
      isRequired: true,
    },
  },
  async run(given, shell) {
    const [merchant = ''] = given.words
    const rules = rulesIn(needed(given, 'rules'))
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      await gateway.entities.dispatching.replace(merchant, rules, change())
      return 0
    })
  },
}

/** @throws UsageError when the option is no JSON list. */
function rulesIn(text: string): DispatchRule[] {
  try {
    const rules: unknown = JSON.parse(text)
    if (Array.isArray(rules)) return rules
  } catch {
    // The same sentence tells what would be right.
  }
  throw new UsageError(`--rules must be a JSON list: ${example}`)
}

const ask: Command = {
  name: 'entity rule try',
  summary: 'Show which dispatching rule would decide, without sending or storing anything.',
  words: ['<merchant>'],
  options: {
    brand: { type: 'string', value: 'brand', meaning: 'Value of paymentBrand.' },
    currency: { type: 'string', value: 'code', meaning: 'Currency code, such as EUR.' },
    type: { type: 'string', value: 'type', meaning: 'Value of paymentType. Default: DB.' },
    country: { type: 'string', value: 'code', meaning: 'Value of billing.country.' },
  },
  async run(given, shell) {
    const [merchant = ''] = given.words
    const { brand, currency, type = 'DB', country } = given.options
    const facts: DispatchFacts = {
      brands: brand === undefined ? [] : [brand],
      currency: currency ?? null,
      paymentType: type,
      country: country ?? null,
    }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const rule = await gateway.entities.dispatching.choose(merchant, facts)
      if (rule === undefined) {
        print(shell, 'no rule matches: such a request is refused')
        return 1
      }
      const closed = rule.channelClosed ? ' (closed: such a request is refused)' : ''
      print(shell, `rule ${rule.priority}: ${rule.channelId} ${rule.channelName}${closed}`)
      return rule.channelClosed ? 1 : 0
    })
  },
}

export const entityRuleCommands: readonly Command[] = [list, add, remove, set, ask]
