/** Test data of the simulator as merchants read it. The rows come from the rules of the simulator. */
export type TestDataRow = {
  readonly field: string
  /** Values in words, with code in backticks. */
  readonly values: string
  readonly result: string
  readonly meaning: string
}

export type TestData = {
  readonly outcomes: readonly TestDataRow[]
  readonly authentications: readonly TestDataRow[]
  readonly settlement: readonly TestDataRow[]
}

/** The TypeScript module with the rows, for the reference page. */
export const testDataModule = (data: TestData): string =>
  `// Made from the rules of the simulator by \`npm run generate\`. Not to be edited.
import type { TestData } from '../generate/test-data.ts'

export const testData: TestData = ${JSON.stringify(data, undefined, 2)}
`
