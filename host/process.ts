/** The command line in a process of its own: the only place that reads and changes what a process has once. */
import { main } from './cli.ts'
import { EndSignals } from './end-signals.ts'
import type { Shell } from './shell.ts'
import { systemCode } from './thrown.ts'

type Process = NodeJS.Process

/** Runs the command line of this process. The process ends when nothing is left to do. */
export async function runHere(own: Process): Promise<void> {
  for (const stream of [own.stdout, own.stderr]) {
    stream.on('error', (error) => endUnwritten(own, stream, error))
  }
  own.exitCode = await main(own.argv.slice(2), shellOf(own))
}

function shellOf(own: Process): Shell {
  const ending = new EndSignals(own)
  return {
    env: own.env,
    // It may be gone, which some commands do not mind.
    get folder() {
      return own.cwd()
    },
    stdout: own.stdout,
    stderr: own.stderr,
    // A look at it opens the stream.
    get stdin() {
      return own.stdin
    },
    // A command that does not look at it ends at Ctrl-C at once, as any program does.
    get signal() {
      return ending.signal
    },
    ownProcess: {
      onUncaught: (hear) => void own.on('uncaughtException', hear),
      onExit: (work) => void own.once('exit', work),
      end: () => ending.hear('SIGTERM'),
      exit: (code) => own.exit(code),
    },
  }
}

/** A reader such as `head` may leave early, and misses nothing. Commands that go on listen by themselves. */
function endUnwritten(own: Process, stream: NodeJS.WriteStream, error: Error): void {
  if (systemCode(error) === 'EPIPE' || stream.listenerCount('error') > 1) return
  if (stream === own.stdout) {
    own.stderr.write(`the output cannot be written (${systemCode(error)})\n`)
  }
  own.exit(1)
}
