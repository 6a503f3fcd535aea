import express, { type Express } from 'express'
import type { Router } from './router.ts'

/**
 * The surface as an Express app, which can be mounted in another one. Express finds the client's address
 * behind proxies: an app without proxies of its own takes over those of the app around it.
 */
export function expressApp(router: Router, trustedProxy: readonly string[]): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.disable('query parser')
  if (trustedProxy.length > 0) app.set('trust proxy', [...trustedProxy])
  app.use(router)
  return app
}
