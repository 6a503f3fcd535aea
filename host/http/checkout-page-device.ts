/**
 * The step before a challenge in which the bank looks at the browser. Browsers with scripts do it by themselves, in a
 * frame that sends the forms of the bank; others show a button. Either way the page goes on after ten seconds.
 */
import { createHash } from 'node:crypto'
import { directionOf, tagOf } from '@tollgate/widget/texts/languages'
import {
  documentOf,
  type PageSetting,
  type Redirect,
  titleOf,
  withParameters,
} from './checkout-page-document.ts'
import { Html, html } from './html.ts'

export type Precondition = Redirect & { readonly waitUntil?: string }

/** Seconds that a shopper waits for the bank at most. */
export const deviceLimitSeconds = 10

/** @param frame the address of the frame below, @param onward where the page goes on to, for shoppers in a hurry */
export function devicePage(
  setting: PageSetting,
  steps: readonly Precondition[],
  { frame, onward }: { readonly frame: string; readonly onward: string },
): string {
  const { texts } = setting
  const title = titleOf(setting)
  const manual = steps.map((step, at) => {
    const name = `device-${at}`
    if (step.method === 'GET')
      return html`<iframe class="unseen" name="${name}" title="${title}" src="${withParameters(step)}"></iframe>`
    return html`<iframe class="unseen" name="${name}" title="${title}"></iframe>
<form method="post" action="${step.url}" target="${name}">${hiddenFields(step)}<button>${texts.page.continue}</button></form>`
  })
  return documentOf(
    setting,
    title,
    html`<h1 class="alone">${title}</h1>
<p class="notice" role="status">${texts.messages.challengeLoading}</p>
<iframe class="unseen" title="${title}" src="${frame}" tabindex="-1"></iframe>
<noscript>${manual}</noscript>
<p class="more">${texts.messages.challengeSlow} <a href="${onward}">${texts.messages.challengeTab}</a></p>`,
  )
}

/** Sends every form into a frame of its own, and opens the next page once all have answered. */
const sendsItself = `
const forms = [...document.forms], left = new Set(forms)
const goOn = () => top.location.replace(document.body.dataset.onward)
for (const form of forms) {
  const frame = document.createElement('iframe')
  const done = () => { left.delete(form); if (left.size === 0) goOn() }
  frame.name = form.target
  frame.title = document.title
  document.body.append(frame)
  if (form.dataset.until === 'iframe#onload') frame.addEventListener('load', done)
  else addEventListener('message', (event) => { if (event.source === frame.contentWindow) done() })
  HTMLFormElement.prototype.submit.call(form)
}
`

/** @param onward the address of the next page, relative to that of the frame */
export function deviceFrame(
  { texts, language }: PageSetting,
  steps: readonly Precondition[],
  onward: string,
): string {
  const forms = steps.map(
    (step, at) =>
      html`<form method="${step.method ?? 'GET'}" action="${step.url}" target="device-${at}" data-until="${step.waitUntil ?? 'iframe#onload'}">${hiddenFields(step)}</form>`,
  )
  return html`<!doctype html>
<html lang="${tagOf(language)}" dir="${directionOf(language)}">
<head><meta charset="utf-8"><title>${texts.messages.challengeTitle}</title></head>
<body data-onward="${onward}">${forms}<script>${new Html(sendsItself)}</script></body>
</html>
`.text
}

/** The content policy of the frame: its one script, forms and frames of banks. @param web schemes of their addresses */
export const deviceFramePolicy = (web: string): string =>
  `default-src 'none'; script-src 'sha256-${createHash('sha256').update(sendsItself).digest('base64')}'; frame-src ${web}; form-action ${web}; base-uri 'none'; frame-ancestors 'self'`

function hiddenFields(step: Precondition): Html {
  // A form that is sent by GET replaces the query of its address.
  const own =
    step.method === 'GET'
      ? [...new URL(step.url).searchParams].map(([name, value]) => ({ name, value }))
      : []
  return html`${[...own, ...(step.parameters ?? [])].map(
    ({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}`
}
