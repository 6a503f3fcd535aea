/** Which test files run in one process, and which in a process of their own. */

/** Tests that start, await or kill processes: one process for each file, three at a time. */
export const apart =
  /^test\/(?:flows|crashes|browser|examples|plugins\/embedded-postgres|host\/cli)\//

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
