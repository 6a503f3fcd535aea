import type { contractCases } from '@tollgate/plugin-kit/testing'

type Applicable = ReturnType<typeof contractCases>

/**
 * Runs the named cases of a contract; returns the names of those that fail. The other cases pass for the right
 * plugin, so a wrong one is shown to them only where the test says so.
 */
export async function failing(
  { cases }: Pick<Applicable, 'cases'>,
  names: readonly string[] = cases.map(({ name }) => name),
): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of cases) {
    if (!names.includes(name)) continue
    try {
      await run()
    } catch {
      failed.push(name)
    }
  }
  return failed.sort()
}
