/** The dispatching rules of each merchant, for operators. */
import { actorBy, type By } from '../audit/actor.ts'
import type { Lanes } from '../db/lanes.ts'
import { isId } from '../ids.ts'
import {
  checkFacts,
  checkRules,
  criteria,
  type DispatchFacts,
  type DispatchRule,
  firstFitting,
  type ReadyRule,
  readyRule,
  shadowOf,
} from './dispatch-rule.ts'
import { entityById } from './store.ts'
import { channelsOf, replaceRules, rulesOf, rulesVersion } from './store-dispatching.ts'

export type ListedRule = DispatchRule & {
  readonly channelName: string
  /** A rule whose channel is closed refuses matching requests. */
  readonly channelClosed: boolean
  /** Priority of an earlier rule that matches all of its requests: this rule never decides. */
  readonly shadowedBy?: number
}

export type RuleChange = {
  /** Refuse if the rules have another version now. */
  readonly version?: number
  /** The actor, for the audit; `embedder` by default. */
  readonly by?: By
}

export class Dispatching {
  readonly #lanes: Lanes

  constructor(lanes: Lanes) {
    this.#lanes = lanes
  }

  /** A merchant's rules by priority. @throws Error for an unknown merchant. */
  async list(merchantId: string): Promise<{ version: number; rules: ListedRule[] }> {
    await this.#merchant(merchantId)
    const version = await this.#version(merchantId)
    const ready = await this.#ready(merchantId)
    return { version, rules: ready.map((rule) => listed(rule, ready)) }
  }

  /**
   * Replaces all rules at once. An empty list switches dispatching off. Every process follows within
   * five seconds. Payments accepted before keep their channel.
   *
   * @returns the new version. @throws Error naming the wrong rule and field.
   */
  async replace(
    merchantId: string,
    rules: readonly DispatchRule[],
    change: RuleChange = {},
  ): Promise<number> {
    return this.#change(merchantId, () => rules, change)
  }

  /** Adds one rule. @throws Error as `replace`, also when its priority is taken. */
  async add(merchantId: string, rule: DispatchRule, change: RuleChange = {}): Promise<number> {
    return this.#change(merchantId, (rules) => [...rules, rule], change)
  }

  /** Removes the rule with this priority. @throws Error when there is none. */
  async remove(merchantId: string, priority: number, change: RuleChange = {}): Promise<number> {
    const without = (rules: readonly DispatchRule[]) => {
      const rest = rules.filter((rule) => rule.priority !== priority)
      if (rest.length === rules.length) {
        const there = rules.map((rule) => rule.priority).join(', ') || 'none'
        throw new Error(`there is no rule ${priority} (there are: ${there})`)
      }
      return rest
    }
    return this.#change(merchantId, without, change)
  }

  /**
   * The rule that would decide now; undefined when none matches. Sends and stores nothing.
   *
   * @throws Error naming an unknown value.
   */
  async choose(merchantId: string, facts: DispatchFacts): Promise<ListedRule | undefined> {
    await this.#merchant(merchantId)
    const ready = await this.#ready(merchantId)
    const found = firstFitting(ready, checkFacts(facts))
    return found === undefined ? undefined : listed(found, ready)
  }

  /** Reads, changes and writes the rules. Repeats after a concurrent change, unless a version is given. */
  async #change(
    merchantId: string,
    work: (rules: readonly DispatchRule[]) => readonly DispatchRule[],
    { version, by }: RuleChange,
  ): Promise<number> {
    await this.#merchant(merchantId)
    const channels = await this.#lanes.single(channelsOf(merchantId))
    for (;;) {
      const present = await this.#version(merchantId)
      if (version !== undefined && version !== present) throw changedMeanwhile(version, present)
      const before = (await this.#ready(merchantId)).map(written)
      const rules = JSON.stringify(checkRules(work(before), channels))
      const [row] = await this.#lanes.single(
        replaceRules({ merchantId, rules, version: present, by: actorBy(by), before }),
      )
      if (row !== undefined) return row.version
    }
  }

  async #merchant(id: string): Promise<void> {
    const [row] = isId(id) ? await this.#lanes.single(entityById(id)) : []
    if (row?.kind === 'merchant') return
    const what = row === undefined ? 'nobody' : `a ${row.kind}`
    throw new Error(`rules belong to a merchant, and the id "${id}" to ${what}`)
  }

  async #version(merchantId: string): Promise<number> {
    const [row] = await this.#lanes.single(rulesVersion(merchantId))
    return row?.version ?? 0
  }

  async #ready(merchantId: string): Promise<ReadyRule[]> {
    return (await this.#lanes.single(rulesOf(merchantId))).map(readyRule)
  }
}

function changedMeanwhile(version: number, present: number): Error {
  return new Error(
    `the rules were changed meanwhile: they are at version ${present}, not ${version}`,
  )
}

function listed(rule: ReadyRule, all: readonly ReadyRule[]): ListedRule {
  const shadow = shadowOf(all, rule)
  return {
    ...written(rule),
    channelName: rule.channel.name,
    channelClosed: rule.channel.closed,
    ...(shadow === undefined ? {} : { shadowedBy: shadow.priority }),
  }
}

function written(rule: ReadyRule): DispatchRule {
  const lists = criteria.flatMap((name) => {
    const list = rule.lists[name]
    return list === null ? [] : [[name, [...list]] as const]
  })
  return { priority: rule.priority, channelId: rule.channel.id, ...Object.fromEntries(lists) }
}
