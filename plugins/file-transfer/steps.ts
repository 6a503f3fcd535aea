/** Time limits and the end of a transfer. */
import { type TransferContext, TransferError } from '@tollgate/plugin-kit'

export type Steps = {
  /**
   * Waits for one answer of the server.
   *
   * @param name completes "… took longer than 30 s": `the login`.
   * @throws TransferError `timeout` or `aborted`; the connection is ended, so that no late answer is
   * taken for another step's.
   */
  wait<T>(name: string, work: Promise<T>): Promise<T>
  /** The same for a stream: the limit begins anew whenever `alive` is called. */
  flow<T>(name: string, work: (alive: () => void) => Promise<T>): Promise<T>
}

/** @param cut ends the connection at once */
export function stepsOf({ stepMs, signal }: TransferContext, cut: () => void): Steps {
  const flow = async <T>(name: string, work: (alive: () => void) => Promise<T>): Promise<T> => {
    let timer: NodeJS.Timeout | undefined
    let forget = () => {}
    const ended = new Promise<never>((_, reject) => {
      const end = (error: TransferError) => {
        reject(error)
        cut()
      }
      const late = () =>
        end(new TransferError('timeout', `${name} took longer than ${stepMs / 1000} s`))
      const abort = () => {
        const isLate = signal.reason instanceof Error && signal.reason.name === 'TimeoutError'
        const text = `${name} was given up`
        end(
          isLate
            ? new TransferError('timeout', `${text}: the transfer took too long`)
            : new TransferError('aborted', text),
        )
      }
      timer = setTimeout(late, stepMs)
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      forget = () => signal.removeEventListener('abort', abort)
    })
    try {
      const going = work(() => timer?.refresh())
      going.catch(() => {})
      return await Promise.race([going, ended])
    } finally {
      clearTimeout(timer)
      forget()
      ended.catch(() => {})
    }
  }
  return { flow, wait: (name, work) => flow(name, () => work) }
}
