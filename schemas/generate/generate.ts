import { testData } from '../generated/test-data.ts'
import { groups } from '../tables/index.ts'
import { classesModule } from './classes.ts'
import { documentsOf, schemaFiles } from './documents.ts'
import { openApi } from './open-api.ts'
import { operations } from './operations.ts'
import { referencePage } from './reference.ts'
import { testDataModule } from './test-data.ts'
import { typesModule } from './types.ts'

/** Every generated file by its path below `schemas/generated`. */
export async function generate(): Promise<Map<string, string>> {
  const documents = documentsOf(operations())
  return new Map([
    ...schemaFiles(documents),
    ['types.ts', await typesModule(documents)],
    ['classes.ts', classesModule(groups)],
    ['openapi.json', `${JSON.stringify(openApi(), undefined, 1)}\n`],
    ['test-data.ts', testDataModule(testData)],
    ['reference.html', referencePage().html],
  ])
}
