/**
 * Every limit of the engine, in one place. A name ends in its unit: Bytes, Ms, Days, Characters;
 * a name without one counts things.
 */
const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

export const limits = {
  // Requests. Beyond these a request is refused before it is decoded further.
  bodyBytes: 8 * 1024 * 1024,
  /** Names and values of `customParameters` together. */
  customParametersBytes: 64 * 1024,
  /** Names and values of all fields together, those of the cart left out. */
  fieldsBytes: 1024 * 1024,
  /** Bodies of all requests under way in one process, and of those of one token and one merchant. */
  bodiesBytes: 64 * 1024 * 1024,
  clientBodiesBytes: 16 * 1024 * 1024,
  /** Of the last quarter of it, what one merchant and one address may have. */
  lateBodiesBytes: 1024 * 1024,
  /** Bodies of requests without a login, which take nothing of the above. */
  strangersBodiesBytes: 8 * 1024 * 1024,
  /** While more than half is taken, a body that does not move for so long is ended. */
  stalledBodyMs: 5 * second,
  /** Answers to reads that were not sent yet: of one process, of one token and one merchant. */
  answersBytes: 64 * 1024 * 1024,
  clientAnswersBytes: 16 * 1024 * 1024,
  /** A connection whose answer does not move for so long is ended. */
  unreadAnswerMs: 20 * second,
  /** A token of somebody who waits for an answer is looked at this often. */
  waitingTokenMs: 2 * second,
  parameters: 65_536,
  parameterNameCharacters: 256,
  parameterDepth: 8,
  /** Highest `[n]`, unless the field's own row says otherwise. */
  parameterIndex: 99,
  cartItemIndex: 1000,
  /** An unknown name is repeated to the client no further than this. */
  unknownNameEchoCharacters: 64,
  /** Runs of digits this long in an echoed unknown name are masked: they may be an account. */
  unknownNameMaskedDigits: 9,
  /** `result.parameterErrors` stops here; a client that got more than this wrong starts over anyway. */
  parameterErrors: 100,
  idempotencyKeyCharacters: 255,
  idempotencyDays: 30,

  // One operation at an acquirer. Lease = connector deadline + flush budget + margin.
  connectorTimeoutMs: 30 * second,
  flushBudgetMs: 5 * second,
  leaseMarginMs: 15 * second,
  /** Operations under way at one connector in one process, unless the connector says less; more are refused with 429. */
  runningPerConnector: 1000,
  /** Largest answer of an acquirer that is read. */
  connectorAnswerBytes: 1024 * 1024,
  /** When to ask again what became of an operation; the last step repeats. */
  enquiryLadderMs: [10 * second, minute, 5 * minute, hour, day],
  /** Still unknown after this: an alarm, beside the operators' list it is on already. */
  unknownAlarmMs: 72 * hour,
  /** An outcome that Postgres would not take is kept in memory and offered again this long. */
  keptOutcomeMs: 10 * minute,
  /** An acquirer's memory of keys is not relied on to its last hour. */
  keyMemoryMarginMs: hour,
  acquirerTextMaskedDigits: { min: 13, max: 19 },
  /** References that a connector gives of one operation; a longer one is cut, for money moved all the same. */
  refs: 32,
  refNameCharacters: 64,
  refCharacters: 512,
  /** Texts that a connector gives to be shown: details of a result, and of the card. */
  shownTexts: 64,
  shownTextNameCharacters: 64,
  shownTextCharacters: 2048,
  /** Fields of a form that a redirect posts, and pages that are fetched before it. */
  redirectParameters: 200,
  redirectPreconditions: 20,
  /** A connector that wants to be asked earlier or later is asked then. */
  pollMs: { min: second, max: 31 * day },
  /** How far from now a connector may let a pending payment end. */
  pendingEndMs: { past: day, ahead: 400 * day },

  // Messages of acquirers.
  /** Of the id of an event, of the key it names and of the acquirer's own reference. */
  eventIdCharacters: 255,
  messageBytes: 256 * 1024,
  /** Claims of one message; one with more is refused as a whole. */
  claimsPerMessage: 1_000,
  claimCharacters: 65_536,
  claimDepth: 32,
  /** Messages that prove nothing: how many are kept for one account within this time, and for how long. */
  unverifiedEvents: 2_000,
  unverifiedEventsMs: 10 * minute,
  /** The same of one address or network, in one process: below the number for all of them. */
  unverifiedEventsPerAddress: 500,
  /** Addresses that a process remembers for that. */
  unverifiedAddresses: 10_000,
  unverifiedEventDays: 3,
  /** An event that comes again within this time is known: chargebacks come late, and are told again later. */
  eventDays: 1_100,
  /** Different contents under one event id that are kept beside the first. */
  eventContents: 10,
  /** What is shown of a message that could not be understood. */
  eventEchoCharacters: 4_000,
  /** Malformed claims of one message whose content is shown; of the others only what they named. */
  eventEchoes: 20,
  /** An event that a process works on comes back after this, unless it ended meanwhile. */
  eventTurnMs: minute,
  /** Events of different operations that one process works on at once when they are due. */
  eventsAtOnce: 8,
  /** Pauses after each failure; the next one after the last puts the event aside. */
  eventRetryMs: [10 * second, 5 * minute],
  /** Pauses of an event that waits, from the first, each half as long again. */
  eventWaitMs: { min: second, max: 10 * minute },
  /** Money for an operation that nobody knows is listed after this: its record may come late. */
  unclaimedMs: 72 * hour,

  // Database lanes.
  groupFlushes: 2,
  /** Rows of one grouped statement. */
  groupRows: 64,
  /** Rows waiting for a flush beyond which requests are turned away. */
  waitingRows: 10_000,
  groupLockTimeoutMs: 250,
  singleLockTimeoutMs: 2 * second,
  /**
   * One try of a flush, and of one statement in the other lanes: the connection of one that was not answered is
   * given up. Longer than it may wait for locks; after a flush that got no answer there is time for another try.
   */
  groupTryMs: 1.5 * second,
  statementTryMs: 2.5 * second,
  /** Postgres gives a statement up this much earlier: then its connection stays. */
  tryAheadMs: second / 4,
  /** No try begins when less than this is left of the flush budget. */
  leastTryMs: second / 2,
  /** Opening a connection. */
  connectMs: 2 * second,
  /** A connection that is idle for so long is asked whether the other end is there. */
  keepAliveMs: 10 * second,
  /** A transaction of several steps, and a statement outside the lanes. */
  longTryMs: 10 * second,
  /** A read that somebody searches with. */
  slowReadMs: 30 * second,
  /** One statement of the housekeeping. */
  upkeepMs: minute,
  /** Months, this one among them, that have their partitions. */
  partitionMonths: 3,
  /** Ids are not made further ahead of the database's clock: months far ahead have no partitions. */
  idsAheadMs: hour,
  /** Other processes' work is noticed by asking this often. */
  dispatcherPollMs: second,
  heartbeatMs: 15 * second,
  housekeepingMs: 12 * hour,
  timersPerClaim: 500,

  // The audit trail, and alarms.
  /** New rows are noticed by asking this often; a job then adds their links. */
  auditPollMs: 300,
  auditLinksAtOnce: 500,
  /** Rows that wait for their link for longer are pointed out. */
  auditLagMs: minute,
  /** What happened in this time is never forgotten. */
  auditDays: 366,
  /** An alarm of one kind about one subject is logged once in this time, of one kind at most so many. */
  alarmMs: minute,
  alarmsPerKind: 60,
  /** Ids that are not there, or of somebody else, that one token may ask for within `alarmMs` before it is an alarm. */
  guessedIds: 20,

  // The step log: what was said between us and acquirers.
  /** How long a step waits for others to be written with it. */
  stepFlushMs: second / 10,
  /** Pause after the database did not take them. */
  stepRetryMs: 2 * second,
  /** Steps of one statement. */
  stepRows: 200,
  /** Steps, and characters of them, that wait in memory; further ones are dropped and counted. */
  waitingSteps: 20_000,
  waitingStepCharacters: 32 * 1024 * 1024,
  /** How long the log of what was told to endpoints is kept, to the end of a month. */
  deliveryDays: 90,
  /** How long steps are kept unless a setting says otherwise. */
  stepDays: 90,
  /** Steps and other rows of one resource that its log shows. */
  shownSteps: 500,
  shownFields: 60,
  shownValueCharacters: 200,
  /** Personal values of one request beyond which no body is kept: too many to look for. */
  personalValues: 200,

  // Caches of tokens and configuration.
  tokenCacheMs: 4 * second,
  unknownTokenCacheMs: second,
  /** How long an answer about the configuration's version is used for others that ask. */
  configVersionMs: second,
  /** Entities and accounts are read again after this whatever their version. */
  configRereadMs: 10 * minute,
  /** Entities and accounts that have to be read again within this time are read together. */
  configGatherMs: 3,
  /** Entries of the caches, unknown tokens among them; the oldest give way. */
  cachedTokens: 20_000,
  cachedEntities: 10_000,
  /** No refresh possible for this long: requests are refused rather than trusted. */
  tokenFailClosedMs: 5 * second,
  /** The last use of one token is written this often by one process, together with those of others. */
  tokenUseMs: minute,
  tokenUseGatherMs: second,
  /** A token that was rotated is good for this long beside the new one unless told otherwise, and at most. */
  tokenOverlapMs: { usual: day, most: 90 * day },

  // Operators.
  passwordCharacters: { min: 12, max: 256 },
  /** scrypt: 2^15 rounds over blocks of 8, three times, take 32 MiB and as long as 2^17 would once. */
  passwordHash: { logRounds: 15, blockSize: 8, parallel: 3 },
  /** Passwords that one process checks at once, and that wait; more are told to come again. */
  passwordsAtOnce: 2,
  passwordsWaiting: 32,
  operatorNameCharacters: { min: 3, max: 64 },
  /** A code is good for this long, and so many steps earlier and later: clocks differ. */
  codeStepMs: 30 * second,
  codeDriftSteps: 1,
  recoveryCodes: 10,
  /** Failed logins of one name, or from one address, before the first pause; each further one brings the next. */
  loginFailures: 10,
  namePausesMs: [hour / 2, hour, 2 * hour, 4 * hour, 8 * hour, day],
  addressPausesMs: [minute, 5 * minute, 15 * minute, hour / 2, hour],
  /** Failures are forgotten after this time without another one. */
  loginForgottenMs: 2 * day,
  /** Failed logins under names that nobody has are put on record so often in a minute by one process. */
  strangersOnRecord: 60,
  sessionIdleMs: 15 * minute,
  sessionMs: 12 * hour,
  /** What needs two people has to be confirmed and carried out within this time. */
  proposalMs: day,
  officeBodyBytes: 64 * 1024,
  officeRows: { default: 100, max: 1_000 },

  // Guessing card numbers: different ones with the same first six and last four digits.
  /** As many may come by one token, and on one channel, within the window; the next is refused. On live, unless set. */
  distinctNumbers: 20,
  distinctNumbersMs: day,
  /** Digits and token or channel that came with one number so far, and with several: the oldest give way. */
  distinctOnce: 50_000,
  distinctSeveral: 10_000,

  // Payments, checkouts, schedules.
  captures: { min: 1, max: 98 },
  checkoutLifeMs: 30 * minute,
  /** A checkout that was submitted but never fetched: its shopperResultUrl is called. */
  shopperResultCallbackMs: 29 * minute,
  scheduleIntervalLiveMs: hour,
  scheduleNextExecutions: 5,
  /** Missed executions of one schedule that are made up for, and how far back. */
  missedExecutions: 24,
  missedExecutionsMs: 24 * hour,

  /**
   * Pauses before a scheduled charge that turned out never to have been made is made once more; after
   * as many in a row its decline stands.
   */
  scheduleRepeatMs: [0, 10 * second, minute],
  /** An occurrence that nothing was done for is given to a job again after this time. */
  forgottenExecutionMs: 2 * minute,

  // Webhooks.
  webhookTimeoutMs: 30 * second,
  /** Pauses after each failed attempt; then daily. */
  webhookLadderMs: [5 * second, minute, 2 * minute, 4 * minute, 8 * minute, 15 * minute, 30 * minute, hour, day],
  /** Share of a pause that chance adds, so that what failed together does not come back together. */
  webhookJitter: 0.1,
  /** Longest pause that an endpoint gets by asking for it. */
  webhookRetryAfterMs: day,
  /** A notification is given up after this time, and an endpoint that fails throughout it is disabled. */
  webhookDays: 30,
  /** A later event of the same resource stops waiting once an earlier one is past this step. */
  webhookOrderWaitMs: hour,
  /** Failures in a row after which an endpoint is only probed, with one notification at a time. */
  webhookFailures: 3,
  /** Largest answer that is read, and how much of it is kept. */
  webhookAnswerBytes: 64 * 1024,
  webhookAnswerCharacters: 1024,
  /** Notifications on their way to one endpoint at once. */
  webhooksPerEndpoint: 24,
  /** The same of one process: those sent less than `webhookSlowMs` ago, those to endpoints that fail, all. */
  webhooksFast: 128,
  webhooksToFailing: 32,
  webhooksRunning: 1024,
  webhookSlowMs: second,
  /** Notifications of one endpoint that wait in memory; the others wait in the database. */
  webhooksWaiting: 100,
  /** The same of all endpoints of one process. */
  webhooksInMemory: 10_000,
  /** One process sends to an endpoint until its lease ends. */
  webhookLeaseMs: 30 * second,
  /** Nothing is sent any more when less than this is left of it. */
  webhookLeaseMarginMs: 5 * second,
  webhookPollMs: second / 2,
  /** Endpoints that wait for room before no more events are claimed. */
  webhooksStarved: 200,
  /** Two looks for new events in one process are this far apart. */
  webhookClaimMs: 25,
  /** The same while this many events and more are claimed at once. */
  webhookBusyClaim: 8,
  webhookBusyClaimMs: 120,
  /** Two statements of a kind that serve notifications are this far apart: what comes between goes together. */
  webhookGatherMs: 10,
  /** Events that one statement turns into notifications. */
  webhookClaim: 200,
  /** How long the secret before a rotation signs as well. */
  webhookRotationMs: day,
  webhooksPerEntity: 100,
  /** Test notifications of one token that may be under way in one process; of one endpoint it is one. */
  webhookTestsPerToken: 3,
  /** Events that one request sends again. */
  webhooksPerReplay: 10_000,

  // The feed of events.
  /** Readers of one process that wait for events, those of one merchant and of one token; more are refused with 429. */
  eventFeedWaiters: 2_000,
  eventFeedWaitersPerMerchant: 200,
  eventFeedWaitersPerToken: 50,
  /** What other processes commit is noticed by asking this often, for all who wait. */
  eventFeedPollMs: 200,
  /** What this process commits is looked for after this time, so that many are found together. */
  eventFeedHurryMs: 5,
  /** Events of all types that one question looks at, and rows that it may read for that. */
  eventFeedWindow: 2_000,
  eventFeedRows: 100_000,
  /** An id may be older than its transaction by this much, and a moment is looked for that much earlier. */
  eventFeedSlackMs: hour,

  // Card testing: failed payments over sliding windows.
  cardTestingNumberMs: day,
  /** The same of addresses, BINs, channels and tokens. */
  cardTestingMs: hour,
  /** What failed here is told to other processes, and theirs learnt, this often. */
  cardTestingShareMs: second,
  /** An attempt that the acquirer has not decided counts as tried for so long. */
  cardTestingOpenMs: 15 * minute,
  cardTestingPurgeMs: hour,
  /** What failures are counted by: of one merchant, and in all. */
  cardTestingKeysPerMerchant: 5_000,
  cardTestingKeys: 50_000,

  // Queries and reports.
  /** A page of any list ends when it holds so much, or with its first entry: its cursor says where to go on. */
  pageBytes: 2 * 1024 * 1024,
  queryRows: { min: 100, max: 500, default: 100 },
  /** Exact page numbers up to here; deeper by cursor. */
  queryPages: 100,
} as const
