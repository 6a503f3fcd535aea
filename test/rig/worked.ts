/** Milliseconds that this thread has worked: those in which a busy machine left it waiting do not count. */
export function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
