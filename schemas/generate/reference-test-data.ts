/** Sections of the reference page with the test data of the simulator. */
import { testData } from '../generated/test-data.ts'
import { results } from '../tables/results.ts'
import { html, type Markup, prose } from './markup.ts'
import { type Section, table } from './reference-parts.ts'
import type { TestDataRow } from './test-data.ts'

/** No row has a name of its own, and filters need none. */
const cells = (values: readonly string[]): Markup =>
  html`<tr>${values.map((value, at) =>
    at === 0 ? html`<th scope="row">${prose(value)}</th>` : html`<td>${prose(value)}</td>`,
  )}</tr>
`

const codesOf = (group: string): Markup =>
  prose(
    results
      .filter(([, one]) => one === group)
      .map(([code]) => `\`${code}\``)
      .join(', '),
  )

const whole = ({ field, values, result, meaning }: TestDataRow) =>
  cells([field, values, result, meaning])

export function testDataSections(): Section[] {
  const { outcomes, authentications, settlement } = testData
  const columns = ['Field', 'Value', 'Result', 'Meaning']
  return [
    {
      id: 'test-data-payments',
      title: 'Payments',
      rows: outcomes.length,
      body: html`<h3>Payments</h3>
<p>In the test environment, payments go to a simulator, which moves no money (<code>testMode=INTERNAL</code>, the default).
It approves every payment except for this data. Use any <code>card.expiryMonth</code> and
<code>card.expiryYear</code> to come, and any <code>card.cvv</code> that the table does not have. Where several rows fit,
<code>card.holder</code> decides first, then the number or account, the security code, the postcode and the amount.
The group <code>pending-long</code> has the codes ${codesOf('pending-long')}.</p>
${table(columns, outcomes.map(whole))}`,
    },
    {
      id: 'test-data-3-d-secure',
      title: '3-D Secure',
      rows: authentications.length,
      body: html`<h3>3-D Secure</h3>
<p>Where the entity has 3-D Secure on, these cards are authenticated. Other cards take no part in it.</p>
${table(columns, authentications.map(whole))}`,
    },
    {
      id: 'test-data-settlement',
      title: 'Settlement and chargebacks',
      rows: settlement.length,
      body: html`<h3>Settlement and chargebacks</h3>
<p>The simulator writes a settlement file for each day. This data changes the line of a payment.</p>
${table(
  ['Field', 'Value', 'Meaning'],
  settlement.map(({ field, values, meaning }) => cells([field, values, meaning])),
)}`,
    },
  ]
}
