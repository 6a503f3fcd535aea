import type { Redirect } from '../protocol.ts'
import type { Context } from './context.ts'
import { element } from './dom.ts'

const isWeb = (address: string) => /^https?:\/\//i.test(address)

/** The link of an app counts as well, and no script: the gateway checks what merchants send. */
const isPage = (address: string) =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(address) &&
  !/^(javascript|vbscript|data|file|blob|filesystem|about|intent|view-source|ftps?|wss?):/i.test(
    address,
  )

/** Goes to the merchant's result page. */
export function goToResult({ options }: Context, resultUrl: string): boolean {
  if (!isPage(resultUrl)) return false
  const target = options.shopperResultTarget
  if (target === undefined || target === '') location.assign(resultUrl)
  else open(resultUrl, target)
  return true
}

function open(address: string, target: string): void {
  const link = element('a', { href: address, target, rel: 'noreferrer' })
  document.body.append(link)
  link.click()
  link.remove()
}

/** Sends the tab, or a named target, to the page of a bank or a wallet. */
export function follow(redirect: Redirect, target = '_self'): boolean {
  if (!isWeb(redirect.url)) return false
  const isPost = (redirect.method ?? 'GET').toUpperCase() === 'POST'
  const fields = redirect.parameters ?? []
  if (!isPost && fields.length === 0) {
    open(redirect.url, target)
    return true
  }
  const form = element('form', { action: redirect.url, method: isPost ? 'POST' : 'GET', target })
  form.hidden = true
  for (const { name, value } of fields) {
    form.append(element('input', { type: 'hidden', name, value }))
  }
  document.body.append(form)
  HTMLFormElement.prototype.submit.call(form)
  form.remove()
  return true
}
