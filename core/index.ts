// First of all, because it says which Node is needed.
import '@tollgate/plugin-kit'

export type { Job, Json, Log, Plugin } from '@tollgate/plugin-kit'
export type { AttentionKind, AttentionRow } from './attention/store.ts'
export { attentionText } from './attention/text.ts'
export type { Actor, ActorKind, By } from './audit/actor.ts'
export type { Alarm, AlarmDetail, AlarmKind } from './audit/alarm.ts'
export type { AuditFilter, AuditRow } from './audit/store-list.ts'
export { type AuditTrail, verifyAudit } from './audit-chain/trail.ts'
export type { Verified } from './audit-chain/verify.ts'
export type { Answered, Call, Reply, ReplyStream, ResultView } from './call.ts'
export type { Caller } from './caller/caller.ts'
export { type AcceptOptions, buildNumber, type RequestOptions } from './caller/embedder.ts'
export { type RightSet, rightSet } from './caller/rights.ts'
export { type Clock, systemClock, wireTimestamp } from './clock.ts'
export { checkPlugins } from './connector/registry.ts'
export { type DatabaseRole, makeRoles } from './database-roles.ts'
export type { DatabaseSsl, PoolSizes } from './db/connection.ts'
export type { DatabaseOptions } from './db/database.ts'
export { PoolerError } from './db/pooler.ts'
export type { ProgramClient, TransactionClient } from './db/program-client.ts'
export type { DispatchFacts, DispatchRule } from './entity/dispatch-rule.ts'
export type { ListedRule, RuleChange } from './entity/dispatching.ts'
export type {
  Entities,
  NewAccount,
  NewEntity,
  RotatedToken,
  RotationOptions,
} from './entity/entities.ts'
export type { TokenLimits } from './entity/token.ts'
export { type ErrorFields, errorFields } from './error-words.ts'
export { GatewayError, type ParameterError } from './errors.ts'
export type {
  SubscribeOptions,
  Subscription,
  SubscriptionContext,
  SubscriptionHandler,
} from './event-feed/subscriptions.ts'
export type {
  EventsView,
  EventView,
  OneEventView,
  PaymentPayload,
  SchedulePayload,
} from './event-feed/view.ts'
/** @internal Crashes of tests. */
export { type FaultPoint, onFaultPoint } from './fault-point.ts'
export { ConfirmationNeededError, ProposalError } from './four-eyes/two-people.ts'
export type { Gateway } from './gateway.ts'
export type { GatewayOptions, Role } from './gateway-options.ts'
export { newId } from './ids.ts'
export {
  KeyAdministration,
  type KeyStatus,
  type KeysStatus,
} from './key-rotation/administration.ts'
export { RotationError } from './key-rotation/followers.ts'
export type { RewrapOptions, Rewrapped } from './key-rotation/rewrap.ts'
export type { RotateOptions, Rotation } from './key-rotation/rotation.ts'
export type { Accounts } from './merchant-account/accounts.ts'
export type { AccountCheck } from './merchant-account/check.ts'
export type {
  AccountCount,
  AccountEdit,
  AccountView,
  ConnectorView,
  ShownAccount,
} from './merchant-account/types.ts'
export { MigrationError, migrateDatabase, migrationFiles } from './migrate.ts'
export type { Decided, SettledBy } from './operator/decided.ts'
export type { Operator, OperatorResult } from './operator/operator.ts'
export type { DoneBy, OfficeAnswer, OperatorAccounts } from './operator-access/api.ts'
export type { From, LoggedIn, LoginRequest } from './operator-access/login.ts'
export type { Enrolled, Invited, ListedPerson, Person } from './operator-access/types.ts'
/** A host checks its options with them, as `createGateway` does. */
export * as optionForms from './option-forms.ts'
export { type OptionProblem, OptionsError } from './option-forms.ts'
export type { FollowUpRequest, Payments } from './payment/api.ts'
export type { PaymentView } from './payment/view.ts'
export type { HeldKind } from './pod-lookup/holds.ts'
export type { PodEventsView } from './pods/feed.ts'
export { type PodState, Pods } from './pods/pods.ts'
export type { QueryView, TransactionView } from './query/view.ts'
export type { RegistrationView, VerificationView } from './registration/view.ts'
export type { AggregationView } from './report/aggregations.ts'
export type { Reports } from './report/api.ts'
export { csvRow } from './report/csv.ts'
export type { ReportFileView } from './report/files.ts'
export type { RecordView } from './report/record-view.ts'
export type { AggregationsView, RecordPageView, ReportFilesView } from './report/view.ts'
export type {
  ReportActionView,
  ReportDeliveriesView,
  ReportDeliveryView,
  ReportDestinationsView,
  ReportDestinationView,
} from './report-delivery/view.ts'
export type { ExecutionsView, PreviewView, SchedulesView, ScheduleView } from './schedule/view.ts'
export type { SftpKeysView, SftpKeyView } from './served-files/operations.ts'
export type {
  DecisionOptions,
  ImportedFile,
  ImportOptions,
  Settlements,
} from './settlement/api.ts'
export type {
  ExceptionalRecordView,
  SettlementFileView,
  UnsettledPaymentView,
} from './settlement/view.ts'
export type { Brought, Onward } from './shopper-return/come-back.ts'
export { compileChecks, createGateway } from './start.ts'
export { whenReachable } from './start-wait.ts'
export { amountText, type Candidates, searchedDays } from './step/find.ts'
export type { Inspected } from './step/steps.ts'
export { type RequestView, type StepsView, type StepView, stepView } from './step/view.ts'
export { clientRequests } from './telemetry.ts'
export type { ClockView } from './test-clock/clocks.ts'
export type { Step } from './transcript/types.ts'
export type { InstallationKey, PodPlace } from './vault/installation-key.ts'
export {
  type KeyProvider,
  KeyProviderError,
  localKeys,
  MissingKeyError,
  makeKey,
  parseKeys,
  type WrappedKey,
} from './vault/keys.ts'
export { combinedKeys } from './vault/providers.ts'
export { type TransitOptions, transitKeys } from './vault/transit.ts'
export type {
  DeliveriesView,
  DeliveryView,
  WebhookActionView,
  WebhooksView,
  WebhookView,
} from './webhook/view.ts'
export type { WidgetAsked, WidgetReply } from './widget/replies.ts'
export { unfitFieldsUrl } from './widget-files/fields-url.ts'
export type { WidgetFile, WidgetFrame, WidgetRelease } from './widget-files/types.ts'
