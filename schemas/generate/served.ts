import type { ReferencePage } from './reference.ts'

// Both texts are large and few processes serve them, so they are made from the tables when they are
// asked for. The committed copies below `generated` are for readers.

/** The OpenAPI 3.1 document. */
export async function openApiDocument(): Promise<Record<string, unknown>> {
  const { openApi } = await import('./open-api.ts')
  return openApi()
}

/** The reference page with the content security policy that it needs. */
export async function reference(): Promise<ReferencePage> {
  const { referencePage } = await import('./reference.ts')
  return referencePage()
}
