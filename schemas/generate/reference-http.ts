/** Sections of the reference page about HTTP: headers, statuses, webhooks. */
import { type Header, headersOf } from '../tables/headers.ts'
import { html, type Markup, prose } from './markup.ts'
import { type Section, table } from './reference-parts.ts'

const headerRow = ({ name, of, when, example, meaning }: Header): Markup =>
  html`<tr id="header.${of}.${name}"><th scope="row"><code>${name}</code></th>
<td>${prose(when)}</td><td class="format"><code>${example}</code></td>
<td class="meaning">${prose(meaning)}</td></tr>
`

const headerTable = (of: Header['of']) =>
  table(['Header', 'When', 'Example', 'Meaning'], headersOf(of).map(headerRow))

const statuses: readonly (readonly [status: string, meaning: string])[] = [
  ['200', 'Approved, pending, read or done. `result.code` tells approved from pending.'],
  [
    '400',
    'Wrong parameters, named in `result.parameterErrors`; or a declined payment, with its `id` and its own fields.',
  ],
  ['401', 'The header `Authorization` is missing or malformed.'],
  ['403', 'The token is unknown or revoked, or has no right to the request or to the entity.'],
  ['404', 'No record with this id is visible to the entity, or there is no such path.'],
  ['408', 'The body of the request stopped coming.'],
  ['429', 'Too many requests: wait as long as `Retry-After` says.'],
  ['500', 'A fault of the gateway. Repeat with the same `Idempotency-Key`.'],
  ['503', 'The process is busy, starts or ends. Repeat with the same `Idempotency-Key`.'],
]

export function headerSection(): Section {
  return {
    id: 'headers',
    title: 'Headers',
    rows: headersOf('request').length + headersOf('answer').length,
    body: html`<h3>Headers</h3>
<h4>Of requests</h4>
${headerTable('request')}
<h4>Of answers</h4>
${headerTable('answer')}`,
  }
}

export function statusSection(): Section {
  return {
    id: 'statuses',
    title: 'Statuses',
    rows: statuses.length,
    body: html`<h3>Statuses</h3>
<p>A refusal has the fields of the table <a href="#table-error">error</a>.</p>
${table(
  ['Status', 'Meaning'],
  statuses.map(
    ([
      status,
      meaning,
    ]) => html`<tr id="status.${status}"><th scope="row" class="number">${status}</th>
<td class="meaning">${prose(meaning)}</td></tr>
`,
  ),
)}`,
  }
}

export function webhookSection(): Section {
  return {
    id: 'webhooks',
    title: 'Webhooks',
    rows: headersOf('notification').length,
    body: html`<h3>Webhooks</h3>
<p>The gateway posts each notification to your endpoint (<a href="#endpoint.webhooks.create">create one</a>).
The body is an object with <code>type</code>, <code>action</code> and <code>payload</code>; the payload has the fields
of a read of the payment, registration or schedule, and those of the table <a href="#table-notification">notification</a>.
The wrapper of the endpoint chooses how the body is sent: <code>TEXT</code> as encrypted hexadecimal digits,
<code>JSON</code> as <code>{&quot;encryptedBody&quot;: &quot;…&quot;}</code>, <code>NONE</code> unencrypted.
Check the signature of the body as it was sent, then decrypt it. Answer with 2xx within 30 seconds.</p>
${headerTable('notification')}`,
  }
}
