/** Sentences that repeat a number of the table of limits, with the number from the table. */
import { limits } from '../../schemas/index.ts'
import { mutants } from '../faults/mutants.ts'

const minutes = (ms: number) => ms / 60_000
const hours = (ms: number) => ms / 3_600_000
const days = (ms: number) => ms / 86_400_000
const count = (number: number) => number.toLocaleString('en')

/** The pauses of a ladder, as a sentence tells them. */
const ladder = (pauses: readonly number[], unit: (ms: number) => number) => pauses.map(unit)

export const sentences: readonly (readonly [page: string, sentence: string])[] = [
  ['README.md', `returns the same payment for ${limits.idempotencyDays} days`],
  ['docs/payments.md', `header, 1 to ${limits.idempotencyKeyCharacters} visible ASCII characters`],
  ['docs/payments.md', `Keys are valid for ${limits.idempotencyDays} days`],
  ['docs/payments.md', `After ${hours(limits.unknownAlarmMs)} hours the entry raises an alarm`],
  [
    'docs/registrations.md',
    `${limits.distinctNumbers} within ${hours(limits.distinctNumbersMs)} hours on live`,
  ],
  ['docs/registrations.md', `(${3 * limits.distinctNumbers})`],
  [
    'docs/schedules.md',
    `at most ${hours(limits.missedExecutionsMs)} hours old, oldest first, at most ${limits.missedExecutions} of them`,
  ],
  ['docs/schedules.md', `refuses a job that runs more often than hourly`],
  ['docs/embedding.md', `A handler has ${limits.subscriptionHandlerMs / 1_000} seconds`],
  ['docs/operating.md', `raises an alarm after ${hours(limits.unknownAlarmMs)} hours`],
  ['docs/operating.md', `matched for ${hours(limits.unclaimedMs)} hours`],
  [
    'docs/late-words.md',
    `after 10 s, 1 min, 5 min, ${hours(limits.enquiryLadderMs[3])} h, then daily`,
  ],
  ['docs/late-words.md', `listed as \`unclaimed\` after ${hours(limits.unclaimedMs)} hours`],
  [
    'docs/late-words.md',
    `up to ${limits.messageBytes / 1024} KB and ${count(limits.claimsPerMessage)} claims`,
  ],
  ['docs/late-words.md', `keeps a limited number of unverified messages for three days`],
  ['docs/webhooks.md', `2xx within ${limits.webhookTimeoutMs / 1000} seconds`],
  [
    'docs/webhooks.md',
    `after ${limits.webhookLadderMs[0] / 1000} seconds, ${ladder(limits.webhookLadderMs.slice(1, 6), minutes).join(', ')} and ${minutes(limits.webhookLadderMs[6])} minutes, one hour, and then daily`,
  ],
  ['docs/webhooks.md', `After ${limits.webhookDays} days, Tollgate gives up`],
  ['docs/webhooks.md', `replays up to ${count(limits.webhooksPerReplay)} events`],
  ['docs/webhooks.md', `The log covers ${limits.deliveryDays} days`],
  [
    'docs/webhooks.md',
    `${limits.eventFeedWaitersPerToken} clients of one access token and ${limits.eventFeedWaitersPerMerchant} of one merchant`,
  ],
  ['docs/webhooks.md', `one query every ${limits.eventFeedPollMs} ms`],
  [
    'docs/webhooks.md',
    `at most ${limits.webhooksFast} requests younger than a second and ${limits.webhooksToFailing} requests to failing endpoints`,
  ],
  ['docs/webhooks.md', `up to ${limits.webhooksPerEndpoint} resources at once`],
  [
    'docs/query.md',
    `${limits.queryRows.min} to ${limits.queryRows.max}. Default: ${limits.queryRows.default}`,
  ],
  ['docs/query.md', `about ${limits.pageBytes / 1024 ** 2} MiB at most`],
  [
    'docs/steps.md',
    `up to ${count(limits.waitingSteps)} transcripts (${limits.waitingStepCharacters / 1024 ** 2} MiB)`,
  ],
  ['docs/steps.md', `keeps transcripts for ${limits.stepDays} days`],
  ['docs/steps.md', `more than ${limits.personalValues} personal values`],
  [
    'docs/operators.md',
    `Passwords have ${limits.passwordCharacters.min} to ${limits.passwordCharacters.max} characters`,
  ],
  [
    'docs/operators.md',
    `for ${ladder(limits.addressPausesMs, minutes).slice(0, 4).join(', ')} and 60 minutes`,
  ],
  [
    'docs/operators.md',
    `${ladder(limits.namePausesMs.slice(1, 5), hours).join(', ')} and ${hours(limits.namePausesMs[5])} hours`,
  ],
  ['docs/operators.md', `lock a name for ${minutes(limits.namePausesMs[0])} minutes`],
  [
    'docs/operators.md',
    `after ${minutes(limits.sessionIdleMs)} minutes without a request, after ${hours(limits.sessionMs)} hours`,
  ],
  ['docs/tokens.md', `(\`0\` to \`${days(limits.tokenOverlapMs.most)}d\`)`],
  ['docs/audit.md', `deletes rows older than ${limits.auditDays} days`],
  ['docs/audit.md', `requested ${limits.guessedIds} unknown or foreign ids`],
  ['docs/audit.md', `at most ${limits.alarmsPerKind} lines a minute`],
  [
    'docs/card-testing.md',
    `${count(limits.cardTestingKeysPerMerchant)} values per merchant and ${count(limits.cardTestingKeys)} in total`,
  ],
  ['docs/card-testing.md', `at most ${minutes(limits.cardTestingOpenMs)} minutes`],
  ['docs/connectors.md', `from one second to ${days(limits.pollMs.max)} days`],
  ['docs/reliability.md', `puts ${mutants.length} mistakes into the engine`],
  ['docs/limits.md', `${limits.bodyBytes / 1024 ** 2} MiB of body`],
]
