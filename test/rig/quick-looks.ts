/** Engines of tests look for work more often than those of users, because nobody but a test waits for a look. */
import { limits } from '@tollgate/schemas'

const quick = {
  dispatcherPollMs: 60,
  webhookPollMs: 60,
  eventFeedPollMs: 30,
  // The second of two works on a payment that meet waits for it.
  timerAgainMs: 5_000,
}
let isChosen = false

/** For engines that start in this process, unless a test chose other pauses. */
export function lookOften(): void {
  if (!isChosen) Object.assign(limits, quick)
}

/** Engines that start from now on look this often. @returns a function that sets the pauses back. */
export function lookEvery(ms: number): () => void {
  isChosen = true
  Object.assign(limits, { dispatcherPollMs: ms, webhookPollMs: ms })
  return () => {
    isChosen = false
    lookOften()
  }
}
