/** The authenticator of the guide compiles as an author's package does, and believes no answer about another key. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import {
  type AuthenticationRequest,
  type Authenticator,
  type HttpAnswer,
  type Plugin,
  Sensitive,
} from '@tollgate/plugin-kit'
import { fenced } from '../../examples/fenced.ts'
import { root } from '../../rig/sources.ts'

describe('the authenticator of the guide', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tollgate-documented-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  mkdirSync(path.join(folder, 'src'))
  const source = path.join(folder, 'src/index.ts')
  writeFileSync(source, fenced('docs/three-d-secure.md', 'ts').find(isAuthenticator)!)
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')

  function isAuthenticator(block: string): boolean {
    return block.includes('defineAuthenticator')
  }

  test('it compiles in a created package', () => {
    const template = path.join(root, 'plugins/create-connector/template/tsconfig.json')
    copyFileSync(template, path.join(folder, 'tsconfig.json'))
    const tsc = path.join(root, 'node_modules/.bin/tsc')
    const words = ['-p', folder, '--noEmit', '--customConditions', '@tollgate/source']
    const { status, stdout } = spawnSync(tsc, [...words, '--allowImportingTsExtensions'], {
      encoding: 'utf8',
    })
    assert.deepEqual([status, stdout], [0, ''])
  })

  const request = { key: 'a'.repeat(32) } as AuthenticationRequest

  async function enquired(status: number, fields: object) {
    const module = (await import(pathToFileURL(source).href)) as { readonly default: Plugin }
    const [authenticator] = module.default.authenticators as [Authenticator]
    const answer = { status, json: () => fields } as HttpAnswer
    const http = { get: async () => answer }
    return authenticator.enquire(request, { http } as unknown as Parameters<
      Authenticator['enquire']
    >[1])
  }

  test('it hides the proof, and throws at answers that prove nothing about its key', async () => {
    const done = { reference: request.key, status: 'Y', proof: 'AAABBBCCC' }
    const found = await enquired(200, done)
    assert.equal(found.is, 'authenticated')
    assert.ok('verificationId' in found && Sensitive.is(found.verificationId))
    await assert.rejects(enquired(200, { ...done, reference: 'b'.repeat(32) }), /another/)
    await assert.rejects(enquired(404, {}), /unreadable/)
    const unknown = { reference: request.key, status: 'unknown' }
    assert.deepEqual(await enquired(404, unknown), { is: 'notFound' })
  })
})
