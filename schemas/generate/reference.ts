import { createHash } from 'node:crypto'
import type { Condition, Direction, Endpoint, Field, FieldClass, Group, Need } from '../table.ts'
import { brands } from '../tables/brands.ts'
import { endpoints } from '../tables/endpoints.ts'
import { groups } from '../tables/index.ts'
import { paymentTypes } from '../tables/payment-types.ts'
import { results } from '../tables/results.ts'
import { rights } from '../tables/rights.ts'
import { html, Markup, prose } from './markup.ts'
import { headerSection, statusSection, webhookSection } from './reference-http.ts'
import { idOf, type Section, table } from './reference-parts.ts'
import { script, style } from './reference-style.ts'
import { testDataSections } from './reference-test-data.ts'
import { rightInWords } from './rights.ts'
import { formatInWords } from './words.ts'

const needs: Readonly<Record<Need, string>> = {
  R: 'required',
  C: 'conditional',
  O: 'optional',
}
const directions: Readonly<Record<Direction, string>> = {
  request: 'sent',
  echoed: 'sent, returned',
  stored: 'sent, kept',
  response: 'returned',
}
const classes: Readonly<Record<FieldClass, string>> = {
  none: 'Visible to everyone who may read the payment.',
  person: 'Personal data; left out of logs and of error answers.',
  pan: 'Account number: sealed in the vault, last four characters shown.',
  sad: 'Sensitive authentication data: in memory only, never written, not even encrypted.',
  secret: 'Credential: never logged or returned.',
}

function fieldRow(group: Group, field: Field): Markup {
  const {
    aliases,
    because,
    default: fallback,
    deprecated,
    tolerated,
    maxIndex,
    key,
    reference,
  } = field.options
  const notes = [
    ...(deprecated ? ['Deprecated.'] : []),
    ...(tolerated ? ['Accepted and ignored.'] : []),
    ...(fallback === undefined ? [] : [`Absent means ${fallback}.`]),
    ...(aliases === undefined ? [] : [`Also accepted as ${aliases.join(', ')}.`]),
    ...(maxIndex === undefined ? [] : [`Indexes go from 0 to ${maxIndex}.`]),
    ...(key === undefined ? [] : [`The name has up to ${key.max} characters: ${key.pattern}`]),
    ...(reference
      ? [
          'May have digits like those of a card number, but never the card number of the same request.',
        ]
      : []),
    ...(because === undefined ? [] : [because]),
  ]
  const id = `${idOf(group.name)}.${field.name}`
  return html`<tr id="${id}"><th scope="row"><a href="#${id}"><code>${field.name}</code></a></th>
<td class="format">${formatInWords(field.format)}</td>
<td><span class="tag need-${field.need}" title="${needs[field.need]}">${field.need}</span></td>
<td>${directions[field.direction]}</td>
<td><span class="tag class-${field.class}" title="${classes[field.class]}">${field.class}</span></td>
<td class="meaning">${prose(field.meaning)}${notes.length === 0 ? '' : html`<small>${prose(notes.join(' '))}</small>`}</td></tr>
`
}

/** Several rules can share a sentence, which is shown once. */
function conditionList(conditions: readonly Condition[]): Markup | '' {
  const messages = [...new Set(conditions.map((condition) => condition.message))]
  if (messages.length === 0) return ''
  return html`<ul class="conditions">${messages.map((message) => html`<li>${prose(capital(message))}.</li>`)}</ul>`
}

/** Messages that begin with the name of a field keep it as it is. */
const capital = (text: string) =>
  /^[a-z0-9]+[.A-Z]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)

function fieldSection(group: Group): Section {
  const columns = ['Field', 'Format', 'Need', 'Direction', 'Class', 'Meaning']
  return {
    id: `table-${idOf(group.name)}`,
    title: group.title,
    rows: group.fields.length,
    body: html`<h3>${group.title}<code>${group.name}</code></h3>
${table(
  columns,
  group.fields.map((field) => fieldRow(group, field)),
)}
${conditionList(group.conditions)}`,
  }
}

function endpointRow(endpoint: Endpoint): Markup {
  const paths = [endpoint.path, ...(endpoint.alsoPaths ?? [])]
  const links = (names: readonly string[]) =>
    names.map((name) => html`<a href="#table-${idOf(name)}">${name}</a> `)
  // Groups that are sent and returned are named once.
  const parts = Object.values(endpoint.contains ?? {}).flatMap((kinds) =>
    Object.values(kinds).flat(),
  )
  const answered = [...new Set([...endpoint.answers, ...parts])].filter(
    (name) => !endpoint.accepts.includes(name),
  )
  return html`<tr id="endpoint.${endpoint.operation}">
<th scope="row"><span class="tag ${endpoint.method}">${endpoint.method}</span> ${paths.map(
    (path, index) => html`${index === 0 ? '' : html`<br>`}<code>${path}</code>`,
  )}</th>
<td>${prose(endpoint.title)}<small><code>${endpoint.operation}</code>${
    endpoint.login !== 'token' ? ', without a token' : ''
  }</small></td>
<td>${rightInWords(endpoint)}</td>
<td>${(endpoint.required ?? []).map((name) => html`<code>${name}</code> `)}</td>
<td>${links(endpoint.accepts)}</td>
<td>${links(answered)}</td></tr>
`
}

function endpointSection(): Section {
  return {
    id: 'endpoints',
    title: 'Endpoints',
    rows: endpoints.length,
    body: html`<h3>Endpoints</h3>
<p>Every request needs the header <code>Authorization: Bearer</code> with a token, unless the row says otherwise.</p>
${table(['Path', 'Purpose', 'Right', 'Required fields', 'Request', 'Answer, beside the request'], endpoints.map(endpointRow))}`,
  }
}

function rightSection(): Section {
  const tokens = rights.filter(({ ofTokens }) => ofTokens)
  return {
    id: 'rights',
    title: 'Rights',
    rows: tokens.length,
    body: html`<h3>Rights</h3>
<p>The rights of access tokens. A token made without named rights has all of them. A request without
the right to it is answered with 403 and <code>800.900.301</code>, which names the right.</p>
${table(
  ['Right', 'Meaning', 'Payment types'],
  tokens.map(
    ({ name, meaning }) => html`<tr id="right.${name}">
<th scope="row"><code>${name}</code></th><td class="meaning">${prose(meaning)}</td>
<td>${paymentTypes
      .filter(({ right, use }) => right === name && use !== 'record')
      .map(({ code }) => code)
      .join(', ')}</td></tr>
`,
  ),
)}`,
  }
}

function paymentTypeSection(): Section {
  const uses = { payment: 'sent', followUp: 'sent to a payment', record: 'written by the gateway' }
  return {
    id: 'payment-types',
    title: 'Payment types',
    rows: paymentTypes.length,
    body: html`<h3>Payment types</h3>
${table(
  ['Code', 'Meaning', 'Use', 'Right', 'Refers to', 'Amount'],
  paymentTypes.map(
    ({ code, title, use, right, refersTo, amount }) => html`<tr id="payment-type.${code}">
<th scope="row"><code>${code}</code></th><td>${prose(title)}</td><td>${uses[use]}</td>
<td>${use === 'record' ? '' : right}</td>
<td>${refersTo.join(', ')}</td><td>${amount}</td></tr>
`,
  ),
)}`,
  }
}

function brandSection(): Section {
  const list = (values: readonly (string | number)[]) => values.join(', ')
  return {
    id: 'brands',
    title: 'Brands',
    rows: brands.length,
    body: html`<h3>Brands</h3>
${table(
  ['Code', 'Name', 'Method', 'Flow', 'Account', 'Number lengths', 'CVV'],
  brands.map(
    (brand) => html`<tr id="brand.${brand.code}">
<th scope="row"><code>${brand.code}</code>${
      brand.aliases.length === 0 ? '' : html`<br><small>also ${list(brand.aliases)}</small>`
    }</th>
<td>${brand.title}${brand.hosts.length === 0 ? '' : html`<small>on ${list(brand.hosts)}</small>`}</td>
<td>${brand.method}</td><td>${brand.flow}</td><td>${brand.account ?? 'none'}</td>
<td class="number">${list(brand.numberLengths)}</td><td class="number">${list(brand.cvvLengths)}</td></tr>
`,
  ),
)}`,
  }
}

function resultSections(): Section[] {
  return [...Map.groupBy(results, ([, group]) => group)].map(([group, rows]) => ({
    id: `results-${group}`,
    title: group,
    rows: rows.length,
    body: html`<h3>${capital(group)}</h3>
${table(
  ['Code', 'Description', 'Advice'],
  rows.map(
    ([code, , description, advice]) => html`<tr id="result.${code}">
<th scope="row" class="number"><code>${code}</code></th><td class="meaning">${prose(description)}</td>
<td>${prose(advice ?? '')}</td></tr>
`,
  ),
)}`,
  }))
}

const chapter = (title: string, sections: readonly Section[]) => ({ title, sections })

const introduction = html`<header><h2>Payment API reference</h2>
<p>Requests are forms whose fields have flat names with dots: <code>card.number</code>. <code>[n]</code> stands
for an index from 0, <code>[name]</code> for a name of your choice. JSON bodies have the same fields, nested; every value is
a text or a boolean. Outer blanks of a value are no part of it, and an empty value counts as absent. Answers are JSON, and new versions may add fields.
Paths are those of the server of this page. The same server has this API as an OpenAPI document, <code>/openapi.json</code>.</p>
<pre><code>curl $BASE_URL/v1/payments \\
  -H "Authorization: Bearer $ACCESS_TOKEN" \\
  -H "Idempotency-Key: order-2041-7" \\
  -d entityId=$ENTITY_ID \\
  -d amount=92.00 -d currency=EUR \\
  -d paymentBrand=VISA -d paymentType=DB \\
  -d card.number=4200000000000000 -d card.holder="Jane Jones" \\
  -d card.expiryMonth=05 -d card.expiryYear=2034 -d card.cvv=123</code></pre>
<dl class="key">
<dt><span class="tag need-R">R</span></dt><dd>Required. A group requires the field as soon as the request contains the group; outside of groups, the endpoint says so. A returned field is always there, or always in its group.</dd>
<dt><span class="tag need-C">C</span></dt><dd>Required under a condition, listed below the table. A returned field is there where it applies.</dd>
<dt><span class="tag need-O">O</span></dt><dd>Optional.</dd>
${Object.entries(classes).map(
  ([name, meaning]) =>
    html`<dt><span class="tag class-${name}">${name}</span></dt><dd>${meaning}</dd>
`,
)}</dl></header>`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export type ReferencePage = {
  readonly html: string
  /** The policy of the page: its own style and script, nothing from elsewhere. */
  readonly contentSecurityPolicy: string
}

/** The reference: one page without outside assets, from the tables. */
export function referencePage(): ReferencePage {
  const chapters = [
    chapter('Operations', [
      endpointSection(),
      headerSection(),
      statusSection(),
      webhookSection(),
      rightSection(),
      paymentTypeSection(),
    ]),
    chapter('Test data', testDataSections()),
    chapter('Fields', groups.map(fieldSection)),
    chapter('Brands', [brandSection()]),
    chapter('Result codes', resultSections()),
  ]
  const contentSecurityPolicy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; base-uri 'none'; form-action 'none'`
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy}">
<title>Payment API reference</title>
<style>${new Markup(style)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="side">
<h1>Payment API</h1>
<label><input type="search" placeholder="Search   /" aria-label="Search endpoints, fields, codes and test data" autocomplete="off" spellcheck="false"></label>
<p class="found" role="status"></p>
<nav aria-label="Sections">
${chapters.map(
  ({ title, sections }) => html`<h2>${title}</h2>
<ul>${sections.map(
    (
      section,
    ) => html`<li><a href="#${section.id}"><span>${section.title}</span><span class="count">${section.rows}</span></a></li>
`,
  )}</ul>
`,
)}</nav>
</div>
<main id="content">
${introduction}
<p class="nothing" hidden>Nothing matches. Try part of a field name, a word of its meaning, or a result code.</p>
${chapters.map(
  ({ title, sections }) => html`<h2 class="chapter">${title}</h2>
${sections.map(
  (section) => html`<section id="${section.id}">
${section.body}
</section>
`,
)}`,
)}</main>
<script>${new Markup(script)}</script>
</body>
</html>
`
  return { html: page.html, contentSecurityPolicy }
}
