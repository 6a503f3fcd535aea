/** Asks the process of this container whether it lives: exit code 0 or 1. */
import { get as overHttp } from 'node:http'
import { get as overHttps } from 'node:https'

const { TOLLGATE_ROLE, TOLLGATE_HEALTH_PORT = '8090', PORT = '8080' } = process.env
const isWorker = TOLLGATE_ROLE === 'worker'
const isEncrypted = !isWorker && process.env.TOLLGATE_TLS_CERTIFICATE_FILE !== undefined
const ask = isEncrypted ? overHttps : overHttp

// The certificate names the gateway's public name, and this asks at the loopback address.
const request = ask(
  {
    host: '127.0.0.1',
    port: isWorker ? TOLLGATE_HEALTH_PORT : PORT,
    path: '/healthz',
    timeout: 2000,
    rejectUnauthorized: false,
  },
  (response) => process.exit(response.statusCode === 200 ? 0 : 1),
)
request.on('timeout', () => process.exit(1))
request.on('error', () => process.exit(1))
