/** Milliseconds of this thread's work, without the time that a busy machine made it wait. */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
