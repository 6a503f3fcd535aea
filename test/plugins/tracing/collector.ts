/**
 * A collector that takes traces by OTLP over HTTP. It decodes them by code that OpenTelemetry generated from its
 * own definitions; the exporter under test has encoders written by hand.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import generated from 'otlp-definitions/build/src/generated/root.js'

export type CollectedSpan = {
  readonly traceId: string
  readonly spanId: string
  /** Empty: the first of its trace. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly status: string
  readonly links: readonly string[]
  readonly startNs: bigint
  readonly endNs: bigint
  readonly service: Readonly<Record<string, unknown>>
}

export type Collector = {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** Bytes of each request. */
  readonly bodies: readonly Buffer[]
  close(): Promise<void>
}

type Value = { stringValue?: string; intValue?: unknown; boolValue?: boolean; doubleValue?: number }
type KeyValue = { key: string; value: Value }
type Request = {
  resourceSpans?: {
    resource: { attributes: KeyValue[] }
    scopeSpans: {
      spans: {
        traceId: Uint8Array
        spanId: Uint8Array
        parentSpanId?: Uint8Array
        name: string
        kind: string
        attributes?: KeyValue[]
        links?: { traceId: Uint8Array; spanId: Uint8Array }[]
        status?: { code?: string }
        startTimeUnixNano: string
        endTimeUnixNano: string
      }[]
    }[]
  }[]
}

type Decoder = {
  decode(body: Uint8Array): object
  toObject(message: object, options: object): object
}

// The package does not type its generated code.
const { ExportTraceServiceRequest: type } = (
  generated as unknown as {
    opentelemetry: {
      proto: { collector: { trace: { v1: { ExportTraceServiceRequest: Decoder } } } }
    }
  }
).opentelemetry.proto.collector.trace.v1

const hex = (bytes: Uint8Array = new Uint8Array()) => Buffer.from(bytes).toString('hex')

const valuesOf = (attributes: readonly KeyValue[] = []) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => {
      const { stringValue, intValue, boolValue, doubleValue } = value
      return [
        key,
        stringValue ?? boolValue ?? (intValue === undefined ? doubleValue : Number(intValue)),
      ]
    }),
  )

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const bodies: Buffer[] = []
  const take = (body: Buffer) => {
    const decoded = type.toObject(type.decode(body), {
      longs: String,
      enums: String,
    }) as Request
    for (const { resource, scopeSpans } of decoded.resourceSpans ?? []) {
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentSpanId: hex(span.parentSpanId),
          name: span.name,
          kind: span.kind,
          attributes: valuesOf(span.attributes),
          status: span.status?.code ?? 'STATUS_CODE_UNSET',
          links: (span.links ?? []).map((link) => `${hex(link.traceId)} ${hex(link.spanId)}`),
          startNs: BigInt(span.startTimeUnixNano),
          endNs: BigInt(span.endTimeUnixNano),
          service: valuesOf(resource.attributes),
        })
      }
    }
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => void parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts)
      const isWell =
        request.url === '/v1/traces' &&
        request.method === 'POST' &&
        request.headers['content-type'] === 'application/x-protobuf'
      if (isWell) {
        bodies.push(body)
        take(body)
      }
      response.writeHead(isWell ? 200 : 400, { 'Content-Type': 'application/x-protobuf' }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
