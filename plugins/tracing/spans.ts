/** Makes a span of each piece of work that the engine tells. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import {
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { type ChannelName, type Channels, channelNames } from '@tollgate/plugin-kit'
import { describe } from './described.ts'
import type { Options } from './options.ts'

/** The span under way, and the context of the program's own SDK when it began. */
type Here = { readonly span: Span; readonly outer: Context }

type Message = Channels[ChannelName]

/** Makes spans until the returned function is called. Work of other engines in this process has none. */
export function spansFromChannels(
  tracer: Tracer,
  engine: string,
  { incoming, outgoing }: Pick<Options, 'incoming' | 'outgoing'>,
): () => void {
  const here = new AsyncLocalStorage<Here | undefined>()
  const spans = new WeakMap<Message, Span>()

  /** The innermost span: ours, or one that the program began inside ours. */
  const parent = (): Context => {
    const now = context.active()
    const ours = here.getStore()
    if (ours === undefined) return now
    return now === ours.outer ? trace.setSpan(now, ours.span) : now
  }

  const begin = (name: ChannelName, message: Message): Here | undefined => {
    if (message.engine !== engine) return here.getStore()
    const { title, kind, attributes } = describe(name, message)
    const client = 'traceparent' in message ? contextOf(message.traceparent) : undefined
    const isPart = client !== undefined && incoming === 'continue'
    const from = isPart ? trace.setSpanContext(ROOT_CONTEXT, client) : parent()
    const links = client !== undefined && incoming === 'link' ? [{ context: client }] : []
    const span = tracer.startSpan(title, { kind, attributes, links }, from)
    spans.set(message, span)
    if (outgoing && name === 'tollgate:outgoing') carry(message, span)
    return { span, outer: context.active() }
  }

  const end = (name: ChannelName, message: Message): void => {
    const span = spans.get(message)
    if (span === undefined) return
    spans.delete(message)
    const { title, attributes, failure } = describe(name, message)
    span.updateName(title)
    span.setAttributes(attributes)
    if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
    span.end()
  }

  const stops = channelNames.map((name) => {
    const { start, asyncEnd } = tracingChannel<Here | undefined, Message>(name)
    const ended = (message: unknown) => end(name, message as Message)
    start.bindStore(here, (message) => begin(name, message))
    asyncEnd.subscribe(ended)
    return () => {
      start.unbindStore(here)
      asyncEnd.unsubscribe(ended)
    }
  })
  return () => stops.forEach((stop) => void stop())
}

/** `00-<trace>-<span>-<flags>`, which the engine has checked. */
function contextOf(traceparent: string | undefined): SpanContext | undefined {
  if (traceparent === undefined) return undefined
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-')
  const found = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(found) ? found : undefined
}

function carry(message: Message, span: Span): void {
  const { traceId, spanId, traceFlags } = span.spanContext()
  const flags = traceFlags.toString(16).padStart(2, '0')
  Object.assign(message, { traceparent: `00-${traceId}-${spanId}-${flags}` })
}
