import type { Readable, Writable } from 'node:stream'

/** A stream of a command: a terminal, or something else that reads or writes. */
type Terminal = { readonly isTTY?: boolean | undefined }
/** The descriptor is that of the operating system, where the stream has one. */
export type Output = Writable & Terminal & { readonly fd?: number | null }

/** All that a command line reads of its surroundings. */
export type Shell = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user's folder: the base of relative paths and packages. */
  readonly folder: string
  readonly stdin: Readable & Terminal
  readonly stdout: Output
  readonly stderr: Output
  /** Aborted with the name of the signal that tells the command to end in order. */
  readonly signal: AbortSignal
  /** Of a command line that has a process of its own; a program that calls `main` leaves it out. */
  readonly ownProcess?: OwnProcess
}

export type OwnProcess = {
  /** From now on, errors that nobody caught go to `hear`, and do not end the process. */
  onUncaught(hear: (error: unknown, origin: string) => void): void
  /** Does this last work at the end of the process, which waits for nothing. */
  onExit(work: () => void): void
  /** Does what a signal to end does. */
  end(): void
  /** Ends the process at once. */
  exit(code: number): void
}

/** @returns a promise of the name of the signal that tells the command to end. */
export function toldToEnd(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const told = () => resolve(String(signal.reason))
    if (signal.aborted) told()
    else signal.addEventListener('abort', told, { once: true })
  })
}
