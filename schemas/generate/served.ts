import type { ReferencePage } from './reference.ts'

// Both texts are large and few processes serve them, so they are generated on request. The
// committed copies below `generated` are for readers.

/** The OpenAPI 3.1 document. */
export async function openApiDocument(): Promise<Record<string, unknown>> {
  const { openApi } = await import('./open-api.ts')
  return openApi()
}

/** The reference page with its content security policy. */
export async function reference(): Promise<ReferencePage> {
  const { referencePage } = await import('./reference.ts')
  return referencePage()
}
