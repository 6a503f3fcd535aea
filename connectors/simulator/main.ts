import { parseArgs } from 'node:util'
import { startSimulator } from './server.ts'

const usage = `Usage: tollgate-simulator [options]

  --port <number>   port to listen on, 0 for any free one (default)
  --host <name>     127.0.0.1 (default), ::1 or localhost
  --name <text>     shown on the bank's page
  --secret <text>   what merchants prove themselves with, simulator-secret unless given
  --ledger <file>   keeps the ledger in this file; in memory only without it
  --events <url>    where events go when an operation names no address

Prints one JSON line {"url", "pid", "name"} when it listens, and runs until it gets SIGTERM or SIGINT.`

/** Runs the simulated acquirer as a process. Wrong arguments end it with code 2 and the usage. */
export async function main(args: readonly string[]): Promise<void> {
  const values = valuesOf(args)
  if (values === undefined) {
    process.stderr.write(`${usage}\n`)
    process.exitCode = 2
    return
  }
  const { port, name = 'Simulator', ...others } = values
  const running = await startSimulator({ ...others, name, port: Number(port ?? 0) })
  const stop = () => void running.close()
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // Its reader may end the process at once.
  process.stdout.write(`${JSON.stringify({ url: running.url, pid: process.pid, name })}\n`)
}

function valuesOf(args: readonly string[]) {
  try {
    const text = { type: 'string' } as const
    const options = { port: text, host: text, name: text, secret: text, ledger: text, events: text }
    const { values } = parseArgs({ args: [...args], options })
    const isPort = values.port === undefined || /^[0-9]{1,5}$/.test(values.port)
    return isPort ? values : undefined
  } catch {
    return undefined
  }
}
