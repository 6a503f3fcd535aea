/** Names, kinds and attributes of spans, by the conventions of OpenTelemetry where they have names. */
import { type Attributes, SpanKind } from '@opentelemetry/api'
import type { ChannelName, Channels } from '@tollgate/plugin-kit'

export type Described = {
  readonly title: string
  readonly kind: SpanKind
  readonly attributes: Attributes
  /** Why the work counts as failed. A decline is no failure. */
  readonly failure?: string | undefined
}

type Describers = { readonly [Name in ChannelName]: (told: Channels[Name]) => Described }

const describers: Describers = {
  'tollgate:request': ({
    method,
    route,
    operation,
    requestId,
    status,
    code,
    paymentId,
    error,
  }) => ({
    title: `${method} ${route}`,
    kind: SpanKind.SERVER,
    attributes: known({
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'tollgate.operation': operation,
      'tollgate.request.id': requestId,
      'tollgate.result.code': code,
      'tollgate.payment.id': paymentId,
      'error.type': error,
    }),
    failure: error ?? (status !== undefined && status >= 500 ? `status ${status}` : undefined),
  }),
  'tollgate:first-commit': ({ paymentId, paymentType, connector, error }) => ({
    title: 'first commit',
    kind: SpanKind.INTERNAL,
    attributes: known({ ...payment(paymentId, paymentType, connector), 'error.type': error }),
    failure: error,
  }),
  'tollgate:connector-call': ({ paymentId, connector, operation, outcome, error }) => ({
    title: `${connector} ${operation}`,
    kind: SpanKind.INTERNAL,
    attributes: known({
      'tollgate.payment.id': paymentId,
      'tollgate.connector': connector,
      'tollgate.connector.operation': operation,
      'tollgate.outcome': outcome,
      'error.type': error,
    }),
    failure: error ?? (outcome === 'unknown' ? 'unknown outcome' : undefined),
  }),
  'tollgate:settling-commit': (told) => ({
    title: 'settling commit',
    kind: SpanKind.INTERNAL,
    attributes: known({
      ...payment(told.paymentId, told.paymentType, told.connector),
      'tollgate.source': told.source,
      'tollgate.moved': told.moved,
      'tollgate.payment.state': told.state,
      'tollgate.result.code': told.code,
      'tollgate.result.group': told.group,
      'error.type': told.error,
    }),
    failure: told.error,
  }),
  'tollgate:notification': (told) => ({
    title: 'notification',
    kind: SpanKind.PRODUCER,
    attributes: known({
      'tollgate.notification.id': told.notificationId,
      'tollgate.endpoint.id': told.endpointId,
      'tollgate.notification.age_ms': Math.round(told.ageMs),
      'tollgate.notification.earlier': told.earlier,
      'http.response.status_code': told.status,
      'error.type': told.error,
    }),
    failure: told.error ?? (told.delivered === false ? 'not delivered' : undefined),
  }),
  'tollgate:job': ({ job, error }) => ({
    title: `job ${job}`,
    kind: SpanKind.CONSUMER,
    attributes: known({ 'tollgate.job': job, 'error.type': error }),
    failure: error,
  }),
  'tollgate:outgoing': ({ method, host, status, error }) => ({
    title: method,
    kind: SpanKind.CLIENT,
    attributes: known({
      'http.request.method': method,
      'server.address': host,
      'http.response.status_code': status,
      'error.type': error,
    }),
    failure: error ?? (status !== undefined && status >= 400 ? `status ${status}` : undefined),
  }),
}

const payment = (id: string, paymentType: string, connector: string) => ({
  'tollgate.payment.id': id,
  'tollgate.payment.type': paymentType,
  'tollgate.connector': connector,
})

/** Without what is not known yet. */
const known = (attributes: Readonly<Record<string, string | number | boolean | undefined>>) =>
  Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== undefined),
  ) as Attributes

export function describe<Name extends ChannelName>(name: Name, told: Channels[Name]): Described {
  const describer = describers[name] as (told: Channels[Name]) => Described
  return describer(told)
}
