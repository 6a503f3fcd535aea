/** Which test files run in one process, and which in a process of their own. */

/** Tests that start, await or kill processes: one process for each file, three at a time. */
export const apart =
  /^test\/(?:flows|crashes|browser|examples|plugins\/embedded-postgres|host\/cli)\//

/**
 * Files that run a second time, over a host of two pods: those where a request has to find its pod by something other
 * than a token (shoppers' returns, checkouts and their pages, messages of acquirers), the event feed,
 * and the file with every operation of the surface.
 */
export const overPods =
  /^test\/host\/http\/(?:acquirer-messages|checkout-page-authentication|checkouts|documented|events|shopper-return|tokens)\.test\.ts$/

/** Files about operators and about pages of plugins: their paths name no pod, so they lead to pod 0. */
export const ofFirstPod =
  /^test\/(?:host\/http\/(?:office.*|ended-rights|pages|surfaces)|flows\/(?:failed-logins|four-eyes|roles))\.test\.ts$/

/** Groups of the others that take about as long as the rest of them: one process each, beside the rest. */
const together: readonly RegExp[] = [
  /^test\/(?:properties|plugins|core\/(?:schedule|db|event-feed|webhook|operator|test-clock|audit-chain))\//,
  /^test\/core\/(?:payment\/late-words|settlement|report|report-delivery|served-files|checkout|three-d-secure)\//,
]

/** Groups of files that share a process. */
export function groupsOf(files: readonly string[]): string[][] {
  const shared = files.filter((file) => !apart.test(file))
  const groups = Map.groupBy(shared, (file) => together.findIndex((group) => group.test(file)))
  return [...groups.values()]
}
