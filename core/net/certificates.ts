/** Certificates of outgoing connections: those of the installation, and those that a connector brings. */
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
// As a whole: an import by name would fail in old versions of Node before the engine can say which it needs.
import * as nodeTls from 'node:tls'
import { type HttpTls, Sensitive } from '@tollgate/plugin-kit'
import { forwardSecret } from '@tollgate/schemas'

/** Connections that may be used for one another: same origin, same certificates. */
export type Group = {
  readonly name: string
  readonly secureContext: nodeTls.SecureContext
}

export type Certificates = {
  /** @throws Error naming the part that cannot be used, without quoting it. */
  groupOf(url: URL, tls: HttpTls | undefined): Group
}

/** Reading certificates takes milliseconds, so contexts are kept: one per account at an acquirer. */
const rememberedContexts = 256

/** @param ca authorities in addition to the public ones, for connections without certificates of their own. */
export function createCertificates(ca: readonly string[] | undefined): Certificates {
  const usual = nodeTls.createSecureContext({
    ...forwardSecret,
    ...(ca && { ca: [...nodeTls.getCACertificates('default'), ...ca] }),
  })
  const own = new Map<string, nodeTls.SecureContext>()
  return {
    groupOf({ origin }, tls) {
      if (tls === undefined) return { name: origin, secureContext: usual }
      const digest = digestOf(tls)
      let secureContext = own.get(digest)
      if (secureContext === undefined) {
        secureContext = contextOf(tls, ca)
        own.set(digest, secureContext)
        if (own.size > rememberedContexts) own.delete(own.keys().next().value!)
      }
      return { name: `${origin} ${digest}`, secureContext }
    },
  }
}

const keyOf = ({ key }: HttpTls) => (Sensitive.is(key) ? String(key.reveal()) : key)

function digestOf(tls: HttpTls): string {
  const parts = [tls.cert, keyOf(tls), tls.ca].map((part) => part ?? '')
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64')
}

function contextOf(tls: HttpTls, more: readonly string[] | undefined): nodeTls.SecureContext {
  const { cert, ca } = tls
  const key = keyOf(tls)
  const wrong = (why: string) => new Error(`The request cannot be written: ${why}.`)
  if ((cert === undefined) !== (key === undefined)) {
    throw wrong('tls.cert and tls.key belong together')
  }
  if (cert !== undefined && !isCertificate(cert)) {
    throw wrong('tls.cert must be a certificate in PEM')
  }
  if (key !== undefined && !isKey(key)) throw wrong('tls.key must be a private key in PEM')
  if (ca !== undefined && !isCertificate(ca)) throw wrong('tls.ca must be a certificate in PEM')
  const trusted =
    ca === undefined ? more && [...nodeTls.getCACertificates('default'), ...more] : [ca]
  try {
    return nodeTls.createSecureContext({
      ...forwardSecret,
      ...(trusted && { ca: trusted }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    })
  } catch {
    throw wrong('tls.key must be the key of tls.cert')
  }
}

export function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}

function isKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).type === 'private'
  } catch {
    return false
  }
}
