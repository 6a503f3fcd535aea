/** Which test files run in one process, and which in a process of their own. */

/** Tests that start, await or kill processes: one process for each file, three at a time. */
export const apart =
  /^test\/(?:flows|crashes|browser|examples|plugins\/embedded-postgres|host\/cli)\//

/** Half of the others, which mostly wait for clocks, connections and pauses: one process beside the rest. */
export const waiting =
  /^test\/(?:properties|plugins|core\/(?:schedule|db|event-feed|webhook|operator|test-clock|audit-chain))\//
