import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../rig/sources.ts'

/** The fenced blocks of a language in a document. */
export function fenced(document: string, language: string): string[] {
  const text = readFileSync(path.join(root, document), 'utf8')
  const pattern = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\n\`\`\``, 'g')
  const found = [...text.matchAll(pattern)].map(([, code]) => code!)
  assert.ok(found.length > 0, `${document} has a block of ${language}`)
  return found
}
