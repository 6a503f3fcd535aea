/**
 * Every limit of the engine. A name ends in its unit: Bytes, Ms, Days, Characters; a name without
 * one counts things.
 */
const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

export const limits = {
  // Requests. A request beyond these is refused before further decoding.
  bodyBytes: 2 * 1024 * 1024,
  /** Values under names of the sender's choice together with these names, such as `customParameters`. */
  ownNamesBytes: 64 * 1024,
  /** What a schedule keeps of its request. A job holds the requests of 200 executions. */
  scheduleRequestBytes: 128 * 1024,
  /** Values of all fields with text of the sender's choice together: each is searched for card data. */
  textCharacters: 256 * 1024,
  /** Bodies of all requests under way in one process, and those of one token and one merchant. */
  bodiesBytes: 64 * 1024 * 1024,
  clientBodiesBytes: 16 * 1024 * 1024,
  /** Share of one merchant and one address in the last quarter of that memory. */
  lateBodiesBytes: 1024 * 1024,
  /** Bodies of requests without a login, in memory of their own. */
  strangersBodiesBytes: 8 * 1024 * 1024,
  /** Bodies of operators with a session, in memory of their own. */
  operatorsBodiesBytes: 8 * 1024 * 1024,
  /** A body stalled for this long is ended while more than half of the memory is taken. */
  stalledBodyMs: 5 * second,
  /** Unsent answers to reads: of one process, of one token and one merchant. */
  answersBytes: 64 * 1024 * 1024,
  clientAnswersBytes: 16 * 1024 * 1024,
  /** A connection with an answer stalled for this long is ended. */
  unreadAnswerMs: 20 * second,
  /** Interval between checks of a waiting reader's token. */
  waitingTokenMs: 2 * second,
  parameters: 65_536,
  parameterNameCharacters: 256,
  parameterDepth: 8,
  /** Unknown names of one request for which the refusal says what was probably meant. */
  suggestedNames: 20,
  /** Highest `[n]` by default. */
  parameterIndex: 99,
  cartItemIndex: 1000,
  /** Longest echo of an unknown name. */
  unknownNameEchoCharacters: 64,
  /**
   * Runs of digits this long in an echoed unknown name are masked, because they can be account
   * numbers.
   */
  unknownNameMaskedDigits: 9,
  /** Maximum length of `result.parameterErrors`. */
  parameterErrors: 100,
  idempotencyKeyCharacters: 255,
  idempotencyDays: 30,

  // One operation at an acquirer. Lease = connector deadline + flush budget + margin.
  connectorTimeoutMs: 30 * second,
  flushBudgetMs: 5 * second,
  leaseMarginMs: 15 * second,
  /**
   * Operations under way at one connector in one process, unless the connector sets fewer, and half of them of one
   * merchant; more are refused with 429.
   */
  runningPerConnector: 1000,
  /** Largest readable answer of an acquirer. */
  connectorAnswerBytes: 1024 * 1024,
  /** Delays of enquiries about an operation; the last step repeats. */
  enquiryLadderMs: [10 * second, minute, 5 * minute, hour, day],
  /** An operation still unknown after this time raises an alarm, in addition to its list entry. */
  unknownAlarmMs: 72 * hour,
  /** An outcome that Postgres refuses is kept in memory and retried for this time. */
  keptOutcomeMs: 10 * minute,
  /** A queued payment is sent within this time after its transaction began, or declined. */
  queuedPaymentMs: hour,
  /** A queued payment whose job was lost is given to a job again after this time. */
  queuedLookMs: 30 * second,
  /** An acquirer's memory of keys is not used in its last hour. */
  keyMemoryMarginMs: hour,
  acquirerTextMaskedDigits: { min: 13, max: 19 },
  /**
   * References of one operation from a connector; a longer one is cut, because money may have
   * moved.
   */
  refs: 32,
  refNameCharacters: 64,
  refCharacters: 512,
  /** The memo of an operation as JSON; a longer one is left out, because money may have moved. */
  memoCharacters: 64 * 1024,
  /** Texts for display from a connector: details of a result, and of the card. */
  shownTexts: 64,
  shownTextNameCharacters: 64,
  shownTextCharacters: 2048,
  /** Fields posted by a redirect, and pages fetched before it. */
  redirectParameters: 200,
  redirectPreconditions: 20,
  /** Bounds of a poll interval requested by a connector. */
  pollMs: { min: second, max: 31 * day },
  /** Bounds of the expiry of a pending payment, relative to now. */
  pendingEndMs: { past: day, ahead: 400 * day },

  // Messages of acquirers.
  /** Characters of an event's id, of its key and of the acquirer's own reference. */
  eventIdCharacters: 255,
  messageBytes: 256 * 1024,
  /** Claims of one message; a message with more is refused as a whole. */
  claimsPerMessage: 1_000,
  claimCharacters: 65_536,
  claimDepth: 32,
  /**
   * Unverified messages: the number kept for one account within this time, and the time they are
   * kept.
   */
  unverifiedEvents: 2_000,
  unverifiedEventsMs: 10 * minute,
  /** The same for one address or network in one process: below the number for the account. */
  unverifiedEventsPerAddress: 500,
  /** Addresses remembered for that count in a process. */
  unverifiedAddresses: 10_000,
  unverifiedEventDays: 3,
  /**
   * Time in which a repeated event is recognised: chargebacks arrive late and are repeated later.
   */
  eventDays: 1_100,
  /** Different contents under one event id that are stored in addition to the first. */
  eventContents: 10,
  /** Shown characters of an unreadable message. */
  eventEchoCharacters: 4_000,
  /** Characters of a reply that a connector gives to a message. */
  eventReplyCharacters: 4_096,
  /** Malformed claims of one message with shown content; of others only the named ids are shown. */
  eventEchoes: 20,
  /** An event under work is taken again after this time, unless it ended. */
  eventTurnMs: minute,
  /** Events of different operations processed at once by one process, and those of one connector among them. */
  eventsAtOnce: 12,
  eventsOfOneConnector: 8,
  /** Pauses after each failure; a further failure quarantines the event. */
  eventRetryMs: [10 * second, 5 * minute],
  /** Pauses of a waiting event, each half as long again as the previous one. */
  eventWaitMs: { min: second, max: 10 * minute },
  /**
   * Money for an unknown operation is listed after this time, because its record may arrive late.
   */
  unclaimedMs: 72 * hour,

  // Database lanes.
  groupFlushes: 2,
  /** Connections of one process, by lane, unless the options say another number. */
  singleConnections: 6,
  readConnections: 4,
  jobConnections: 3,
  /** Rows of one grouped statement. */
  groupRows: 64,
  /** Requests are turned away beyond this number of rows waiting for a flush. */
  waitingRows: 10_000,
  groupLockTimeoutMs: 250,
  singleLockTimeoutMs: 2 * second,
  /** A call in a transaction of the embedding program waits so long for a row of another transaction. */
  openTransactionLockMs: 5 * second,
  /**
   * One attempt of a flush, and of one statement in the other lanes: after it the connection is
   * given up. Longer than a wait for locks, and short enough for another attempt of a flush.
   */
  groupTryMs: 1.5 * second,
  statementTryMs: 2.5 * second,
  /** Postgres ends a statement this much earlier, so that its connection stays usable. */
  tryAheadMs: second / 4,
  /** No attempt begins with less than this of the flush budget left. */
  leastTryMs: second / 2,
  /** Opening a connection. */
  connectMs: 2 * second,
  /** How long a start waits for its database, unless the options say another time, and between two tries. */
  startWaitMs: minute,
  startPauseMs: second / 4,
  /** How often a process asks which server a new connection reaches. */
  leaderProbeMs: 5 * second,
  /** Transaction numbers that a new leader leaves out, so that none repeats that of a lost commit. */
  skippedTxids: 100_000,
  /** Numbers that one statement of it leaves out: a tenth of a second on a usual server. */
  skippedTxidsAtOnce: 20_000,
  /** Numbers that a start leaves out by itself after the restore of a dump: some eight seconds. */
  restoredTxids: 2_000_000,
  /** The time for that, in one connection. */
  welcomeMs: 20 * second,
  /** Outcomes that a process keeps after they were answered, in case a failover loses them. */
  recentOutcomes: 2048,
  /** Their size, of all and of one merchant. */
  recentOutcomeBytes: 32 * 1024 * 1024,
  recentOutcomeBytesPerMerchant: 8 * 1024 * 1024,
  /** The pause between two looks whether the payment is back on which one of them builds. */
  referencePauseMs: second,
  /** After a failover, due work waits for this time: every process first restores what it remembers. */
  restorationMs: 15 * second,
  /** Numbers of short ids that a new leader leaves out, so that none repeats that of a lost payment. */
  skippedShortNumbers: 1_000_000,
  /** The pause between two lines of the log about one outage of the database. */
  outageLogMs: 10 * second,
  /** A connection idle for this long is checked. */
  keepAliveMs: 10 * second,
  /** A transaction of several steps, and a statement outside the lanes. */
  longTryMs: 10 * second,
  /** A statement of a search. */
  slowReadMs: 30 * second,
  /** Searches and lists of one merchant that wait in one process, and as many reports; more are refused with 429. */
  slowReadsWaiting: 32,
  /** One statement of the housekeeping, and of the job queue. */
  upkeepMs: minute,
  /** One change of the job queue's tables and indexes. */
  queueChangeMs: hour,
  /** Connections of one process for searches of the audit trail and reports, and the time of one read. */
  searchConnections: 3,
  searchMs: 10 * second,
  /** Months with partitions, including the present one. */
  partitionMonths: 3,
  /** Maximum lead of ids over the database's clock, because distant months have no partitions. */
  idsAheadMs: hour,
  /** Poll interval for other processes' work. */
  dispatcherPollMs: second / 2,
  /** A probe that waits this long for the database is told that the process is not ready. */
  readinessMs: 900,
  /** The feed of several pods waits so long for one of them, and then leaves it out for this time. */
  podFeedMs: 5 * second,
  podFeedRestMs: 10 * second,
  /** Age of the counts that exporters get, and where each count ends. */
  observationMs: 5 * second,
  observedRows: 10_000,
  heartbeatMs: 15 * second,
  housekeepingMs: 12 * hour,
  timersPerClaim: 500,
  /** A claimed timer comes back after this time, unless its work has ended. */
  timerAgainMs: 60 * second,

  // The audit trail, and alarms.
  auditLinksAtOnce: 500,
  /** Rows without a link for longer are reported. */
  auditLagMs: minute,
  /** Age of rows that are never dropped. */
  auditDays: 366,
  /**
   * An alarm of one kind about one subject is logged once in this time, and of one kind at most
   * this often.
   */
  alarmMs: minute,
  alarmsPerKind: 60,
  /** Unknown or foreign ids that one token can request within `alarmMs` without an alarm. */
  guessedIds: 20,

  // The step log: the exchanges with acquirers.
  /** Time that a step waits for others to be written with it. */
  stepFlushMs: second / 10,
  /** Pause after the database refused steps. */
  stepRetryMs: 2 * second,
  /** Steps of one statement. */
  stepRows: 200,
  /** Steps, and characters of steps, that wait in memory; further ones are dropped and counted. */
  waitingSteps: 20_000,
  waitingStepCharacters: 32 * 1024 * 1024,
  /** Time that the delivery log is kept, to the end of a month. */
  deliveryDays: 90,
  /** Time that steps are kept by default. */
  stepDays: 90,
  /** Steps and other rows shown for one resource. */
  shownSteps: 500,
  shownFields: 60,
  shownValueCharacters: 200,
  /**
   * Personal values of one request above which no body is kept, because the search would cost too
   * much.
   */
  personalValues: 200,

  // Caches of tokens and configuration.
  tokenCacheMs: 4 * second,
  unknownTokenCacheMs: second,
  /** Time that an answer about the configuration's version serves other readers. */
  configVersionMs: second,
  /** Entities and accounts are read again after this time, whatever their version. */
  configRereadMs: 10 * minute,
  /** Entities and accounts to be read again within this time are read together. */
  configGatherMs: 3,
  /** Entries of the caches, including unknown tokens; the oldest are dropped. */
  cachedTokens: 20_000,
  cachedEntities: 10_000,
  /** Time without a refresh after which requests are refused. */
  tokenFailClosedMs: 5 * second,
  /** Interval at which a process writes the last uses of tokens. */
  tokenUseMs: minute,
  tokenUseGatherMs: second,
  /** Overlap of a rotated token with the new one: by default, and at most. */
  tokenOverlapMs: { usual: day, most: 90 * day },

  // Operators.
  passwordCharacters: { min: 12, max: 256 },
  /**
   * scrypt: 2^15 rounds over blocks of 8, three times, take 32 MiB and as long as 2^17 would once.
   */
  passwordHash: { logRounds: 15, blockSize: 8, parallel: 3 },
  /**
   * Passwords of logins that one process checks at once, and that wait; further logins must retry.
   * As many wait for the one check at once of operators with a session.
   */
  passwordsAtOnce: 2,
  passwordsWaiting: 32,
  /** The same of one operator with a session. */
  passwordsPerPerson: 2,
  operatorNameCharacters: { min: 3, max: 64 },
  /** Validity of a code, with this many steps earlier and later, because clocks differ. */
  codeStepMs: 30 * second,
  codeDriftSteps: 1,
  recoveryCodes: 10,
  /**
   * Failed logins of one name, or from one address, before the first pause; each further one brings
   * the next.
   */
  loginFailures: 10,
  namePausesMs: [hour / 2, hour, 2 * hour, 4 * hour, 8 * hour, day],
  addressPausesMs: [minute, 5 * minute, 15 * minute, hour / 2, hour],
  /** Failures are forgotten after this time without another one. */
  loginForgottenMs: 2 * day,
  /** Failed logins under unknown names that one process records in a minute. */
  strangersOnRecord: 60,
  sessionIdleMs: 15 * minute,
  sessionMs: 12 * hour,
  /** Time to confirm and carry out a request of two people. */
  proposalMs: day,
  /** Open requests of one person. */
  openProposals: 50,
  officeBodyBytes: 64 * 1024,
  /** Malformed logins of one address or network in a minute before it is answered 429 unread. */
  officeRefusals: 60,
  /** Lists read at once for one operator, and for all operators of one entity, by one process. */
  officeReadsPerPerson: 2,
  officeReadsPerEntity: 2,
  /** Checks of credentials under way in one process, at one account and for one person or program. */
  accountChecksPerAccount: 2,
  accountChecksPerPerson: 4,
  officeRows: { default: 100, max: 1_000 },

  // Wallets.
  /** Refusals of wallets' tokens are answered at multiples of this time. */
  walletRefusalMs: 50,
  /** Documents with trust anchors of wallets: time and size of a fetch, and how long one is kept. */
  walletDocumentMs: 10 * second,
  walletDocumentBytes: 256 * 1024,
  walletSessionBytes: 32 * 1024,
  walletDocumentLifeMs: { least: minute, most: 7 * day, unsaid: hour },

  // Authentication of cardholders.
  /** Time for one call of an authenticator, and for the question after a lost answer. */
  authenticatorTimeoutMs: 20 * second,
  authenticatorEnquiryMs: 5 * second,
  /** A job goes on to the money of a shopper who came back, if the process died, for this long. */
  returnedMs: 5 * minute,
  /** Pause before a job asks again about a shopper who came back. */
  returnedLookMs: minute,
  /** Security codes in memory while shoppers are away at a challenge: their number and their time. */
  heldSecrets: 20_000,
  heldSecretsMs: 15 * minute,
  heldSecretsSweepMs: 30 * second,

  // Guessing card numbers: different ones with the same first six and last four digits.
  /**
   * Numbers accepted from one token, and on one channel, within the window; the next is refused. On
   * live by default.
   */
  distinctNumbers: 20,
  distinctNumbersMs: day,
  /**
   * Remembered digits with their token or channel, with one number and with several; the oldest are
   * dropped.
   */
  distinctOnce: 50_000,
  distinctSeveral: 10_000,

  // Payments, checkouts, schedules.
  captures: { min: 1, max: 98 },
  checkoutLifeMs: 30 * minute,
  /**
   * The time after the end of a payment in which a return still leads to the page that only its press named: the
   * word of the acquirer may arrive before the shopper.
   */
  returnAfterEndMs: 2 * minute,
  /** Failed tries of one checkout, by default and at most; then it is closed. */
  checkoutTries: { usual: 10, most: 50 },
  /** Parameters of their own from shoppers' browsers, names included. */
  shopperParameters: { most: 16, characters: 4096 },
  /** Digits in a row, separators aside, that free text of shoppers' browsers may not have. */
  shopperTextDigits: 8,
  /** Questions to an acquirer for one payment because its shopper came back or pressed again. */
  shopperQuestions: { atOnce: 3, pauseMs: 2 * second },
  /** Registrations that one checkout offers. */
  checkoutRegistrations: 50,
  /** How long a repeated submission waits for the payment that the first one began. */
  checkoutRepeatWaitMs: 20 * second,
  /** How long a checkout without any payment is kept, and how long its sealed numbers are. */
  checkoutMs: 30 * day,
  checkoutSecretMs: hour,
  /** How long a returning shopper waits for whoever asks the acquirer already. */
  shopperReturnWaitMs: 5 * second,
  /** Form that a bank's page posts with a returning shopper. */
  shopperReturnBytes: 64 * 1024,
  /** A form of a plugin's page. */
  pageFormBytes: 16 * 1024,
  /** The shopperResultUrl of a submitted checkout is called after this time without a read. */
  shopperResultCallbackMs: 29 * minute,
  scheduleIntervalLiveMs: hour,
  scheduleNextExecutions: 5,
  /** Simultaneous advances of test clocks in one process and of one merchant, and how long one runs before others get their turn. */
  clocksRunning: 4,
  clocksPerMerchant: 2,
  clockSliceMs: 20 * second,
  /** Missed due times of one schedule that the engine catches up, and their maximum age. */
  missedExecutions: 24,
  missedExecutionsMs: 24 * hour,

  /**
   * Pauses before an unsent scheduled charge is repeated; after the last one its decline stands.
   */
  scheduleRepeatMs: [0, 10 * second, minute],
  /** An occurrence without any work is given to a job again after this time. */
  forgottenExecutionMs: 2 * minute,

  // Webhooks.
  webhookTimeoutMs: 30 * second,
  /** Pauses after each failed attempt; then daily. */
  webhookLadderMs: [5 * second, minute, 2 * minute, 4 * minute, 8 * minute, 15 * minute, 30 * minute, hour, day],
  /** Random share of a pause, so that simultaneous failures are not repeated simultaneously. */
  webhookJitter: 0.1,
  /** Longest pause that an endpoint can request. */
  webhookRetryAfterMs: day,
  /**
   * A notification is given up after this time, and an endpoint that fails throughout is disabled.
   */
  webhookDays: 30,
  /** A later event of the same resource stops waiting when an earlier one is past this step. */
  webhookOrderWaitMs: hour,
  /**
   * Consecutive failures after which an endpoint is only probed, with one notification at a time.
   */
  webhookFailures: 3,
  /** Largest readable answer, and the part of it that is kept. */
  webhookAnswerBytes: 64 * 1024,
  webhookAnswerCharacters: 1024,
  /** Simultaneous notifications to one endpoint. */
  webhooksPerEndpoint: 24,
  /**
   * The same for one process: those sent less than `webhookSlowMs` ago, those to failing endpoints,
   * all.
   */
  webhooksFast: 128,
  webhooksToFailing: 32,
  webhooksRunning: 1024,
  /** Those of one merchant, to failing endpoints and all. The others have their turns. */
  webhooksToFailingPerMerchant: 16,
  webhooksRunningPerMerchant: 256,
  webhookSlowMs: second,
  /** Notifications of one endpoint waiting in memory; the others wait in the database. */
  webhooksWaiting: 100,
  /** The same for all endpoints of one process. */
  webhooksInMemory: 10_000,
  webhooksInMemoryPerMerchant: 2_500,
  /** Lease of a process on an endpoint. */
  webhookLeaseMs: 30 * second,
  /** No send begins with less than this of the lease left. */
  webhookLeaseMarginMs: 5 * second,
  webhookPollMs: second / 2,
  /** Endpoints waiting for room above which no more events are claimed. */
  webhooksStarved: 200,
  /** Those of one merchant that count. */
  webhooksStarvedPerMerchant: 100,
  /** Minimum time between two looks for new events in one process. */
  webhookClaimMs: 25,
  /** Number of events claimed at once from which that minimum applies. */
  webhookBusyClaim: 8,
  webhookBusyClaimMs: 120,
  /**
   * Minimum time between two statements of a kind for notifications, so that arrivals in between
   * are grouped.
   */
  webhookGatherMs: 10,
  /** Events that one statement turns into notifications. */
  webhookClaim: 200,
  /** Time that the previous secret signs as well after a rotation. */
  webhookRotationMs: day,
  webhooksPerEntity: 100,
  /** Changes of webhook endpoints, their tests and replays, and moves of test clocks, that one token may make in one process and in this time. */
  setupChangesPerToken: 300,
  setupChangesMs: hour,
  /** Simultaneous test notifications of one token in one process; an endpoint has one. */
  webhookTestsPerToken: 3,
  /** Events replayed by one request. */
  webhooksPerReplay: 10_000,
  /** Notifications of a replay that one statement writes. */
  webhooksPerWrite: 1_000,
  /** Simultaneous replays of one token in one process; an endpoint has one. */
  webhookReplaysPerToken: 1,

  // Delivery of report files.
  /** Longest wait for each answer of a server, and for each block of a file. */
  transferStepMs: 30 * second,
  /** A file must be delivered in this time. */
  transferMs: hour,
  /** Destinations, and keys for reading by SFTP, of one entity. */
  reportDestinationsPerEntity: 20,
  sftpKeysPerEntity: 50,
  /** RSA keys of SSH. With more bits, a signature or its check keeps the process busy for too long. */
  rsaKeyBits: { min: 2048, max: 8192 },
  /** Lease of a process on a destination, and the time after which it is renewed. */
  reportLeaseMs: 2 * minute,
  reportLeaseRenewMs: 30 * second,
  /** Simultaneous destinations of one process, and of these the ones of one merchant. */
  reportDestinationsRunning: 4,
  reportDestinationsPerMerchant: 2,
  /** Files that one run takes to a destination before others get their turn, and the time in which it begins them. */
  reportFilesPerRun: 50,
  reportRunMs: minute,
  /** Files that one request delivers again. */
  reportFilesPerReplay: 1_000,
  /** Simultaneous tests of one token in one process; a destination has one. */
  reportTestsPerToken: 2,
  /** The newest files that a folder shows. Older ones can be opened by their name. */
  servedFiles: 10_000,
  /** Lists of one login within this time show the same files. */
  servedListMs: 5 * second,
  /** The delivery log of report files is kept this long. */
  reportDeliveryDays: 90,

  // The feed of events.
  /**
   * Waiting readers of one process, of one merchant and of one token; more are refused with 429.
   */
  eventFeedWaiters: 2_000,
  eventFeedWaitersPerMerchant: 200,
  eventFeedWaitersPerToken: 50,
  /** Poll interval for other processes' commits, on behalf of all waiting readers. */
  eventFeedPollMs: 200,
  /** Delay before this process's own commits are read, so that many are read together. */
  eventFeedHurryMs: 5,
  /** Longest wait of a question for its turn. */
  eventFeedTurnMs: 10 * second,
  /** Events of all types examined by one question, and rows read for it. */
  eventFeedWindow: 2_000,
  eventFeedRows: 100_000,
  /** Maximum age of an id when its transaction begins, by which a moment is searched earlier. */
  eventFeedSlackMs: hour,

  /** Subscriptions of the embedding program: events read at once, and how long a handler may take. */
  subscriptionPage: 100,
  subscriptionHandlerMs: 30 * second,
  /** Handlers that work at once in one process. */
  subscriptionConnections: 4,
  /** Pauses after a failure of a handler: the first, doubling, and the longest. */
  subscriptionRetryMs: second,
  subscriptionRetryMaxMs: minute,
  /** Pause while another process handles the events. */
  subscriptionHeldMs: second,
  /** One wait for further events. */
  subscriptionWaitMs: 20 * second,

  // Card testing: failed payments over sliding windows.
  cardTestingNumberMs: day,
  /** The same for addresses, BINs, channels and tokens. */
  cardTestingMs: hour,
  /** Interval at which processes exchange their failures. */
  cardTestingShareMs: second,
  /** An undecided attempt counts for this time. */
  cardTestingOpenMs: 15 * minute,
  /** Undecided attempts that a process asks the database about in one interval. */
  cardTestingAskedAtOnce: 1_000,
  cardTestingPurgeMs: hour,
  /** Values whose failures are counted: of one merchant, and in all. */
  cardTestingKeysPerMerchant: 5_000,
  cardTestingKeys: 50_000,

  // The widget.
  /** Files of the widget in the memory of a process: two versions, and some. */
  widgetFilesKept: 200,
  /** A submission of a shopper's browser. */
  checkoutSubmissionBytes: 64 * 1024,
  /** A form of the hosted page. */
  checkoutPageBytes: 16 * 1024,
  /** The part of its query that is read, in characters. */
  checkoutPageQuery: 4 * 1024,

  // Queries and reports.
  /** A page of any list ends at this size, or with its first entry; its cursor continues. */
  pageBytes: 2 * 1024 * 1024,
  queryRows: { min: 100, max: 500, default: 100 },
  /** Page numbers are exact up to here; a cursor reads further. */
  queryPages: 100,

  // Settlement files. Connections and time of one transaction over many rows.
  bulkConnections: 2,
  bulkMs: 5 * minute,
  /** A larger file is refused before it is read. */
  settlementFileBytes: 4 * 1024 * 1024 * 1024,
  settlementPartBytes: 1024 * 1024,
  /** Sealed bytes of a file are deleted after this time; its records stay. */
  settlementPartDays: 90,
  /** Longest run of one reconciliation job; the next job continues. */
  settlementSliceMs: 50 * second,
  /** A process that died holds up a scope for this long. A process that works extends its leases. */
  settlementLeaseMs: 2 * minute,
  settlementRenewMs: 30 * second,
  /** A file whose other scopes are busy waits for this long. */
  settlementWaitMs: 2 * second,
  /** A step that failed is tried again after this time, doubling up to the longest. */
  settlementRetryMs: { first: 5 * second, longest: 10 * minute },
  /** Failed tries of a step before operators see the file. */
  settlementTries: 3,
  /** Lines about payouts in one file. */
  settlementBatchLines: 50_000,
  /** Exceptions of one kind that a file stores; the others are counted. */
  settlementExceptions: 1_000,
  /** Lines that an entry of the operators' list names. */
  settlementShownLines: 10,
  /** The files of an account are fetched once in this time, at a moment of its own. */
  settlementFetchMs: hour,
  settlementFetchWithinMs: 2 * minute,
  /** New accounts get their timer within this time. */
  settlementPlanMs: 10 * minute,
  // A payment is committed at the latest this long after its id was made.
  simulatedDayLagMs: 10 * minute,
  /** Records without a certain match are compared with payments again once in this time. */
  settlementAgainMs: hour,
  /** A settlement line that could not take effect yet is tried again after this time. */
  settlementEffectMs: minute,
  /** Failed tries of an effect before operators see its record. */
  settlementEffectTries: 3,
  /** Effects carried out at once. */
  settlementEffects: 8,
  /** A dispute that is told without a reference is that of an equal amount within this time. */
  disputeAdoptionDays: 45,
  /**
   * Readers of the event feed wait for open transactions, so that work on files commits often: lines copied to the
   * database, lines that are matched, payments whose names or cards are compared, records, and rows deleted at once.
   */
  settlementCopyLines: 2_000,
  settlementWindowLines: 10_000,
  settlementNamedPayments: 100_000,
  settlementAlikePayments: 20_000,
  settlementCommitRecords: 2_500,
  settlementDropRows: 10_000,
  /**
   * Work on a file rests after a step of at least the shortest time if a payment began recently: so many times as
   * long as the step, up to the longest rest.
   */
  settlementRest: { shortestMs: second / 4, recentMs: 2 * second, times: 4, longestMs: 5 * second },
  /** New versions of records are in a report file after this time. */
  reportCutMs: minute,
  /** A file looks again after this time for versions whose transactions wait for an older one. */
  reportWaitMs: 5 * second,
  /** Records that a report reads at once. */
  reportRows: 2_000,
  /** A part of a report file holds whole rows up to about this size. */
  reportPartBytes: 1024 * 1024,
  /** Parts of a report file that was not published are deleted after this time. */
  reportDraftDays: 1,
} as const
