import assert from 'node:assert/strict'
import { brands } from '@tollgate/schemas'
import { contractVersion } from '../../../connector.ts'
import { harmlessName, secretName } from '../../cases/facts.ts'
import type { AuthenticatorCase } from '../case.ts'

/** The authenticator's own declarations, before anything is sent. */
export const facts: readonly AuthenticatorCase[] = [
  {
    name: 'the declaration of the authenticator is complete',
    async run({ authenticator, sandbox, server }) {
      const { name, contract, supports } = authenticator
      assert.match(name, /^[a-z][a-z0-9-]{0,39}$/, 'name is lower-case letters, digits, hyphens')
      assert.equal(contract, contractVersion, 'contract is the version of this kit')
      assert.ok(supports.schemes.length > 0, 'supports.schemes names a scheme')
      const known = new Set(brands.flatMap(({ code, hosts }) => [code, ...hosts]))
      for (const scheme of supports.schemes) {
        assert.ok(known.has(scheme), `supports.schemes: ${scheme} is a scheme of a brand`)
      }
      assert.ok(supports.versions.length > 0, 'supports.versions names a version')
      for (const version of supports.versions) {
        assert.match(version, /^2\.[0-9]\.[0-9]$/, 'a version is one of 3-D Secure 2')
      }
      assert.notDeepEqual(supports.modes, [], 'supports.modes names a mode')
      const hasServer = server.url !== undefined
      assert.equal(sandbox.answers !== undefined, hasServer, 'a server with a url has answers')
    },
  },
  {
    name: 'credentials of an authenticator are settings of class secret',
    async run({ authenticator: { config, account } }) {
      for (const field of [...(config?.fields ?? []), ...(account?.fields ?? [])]) {
        const isSecret = secretName.test(field.name) && !harmlessName.test(field.name)
        const rule = `${field.name} looks like a credential: give it the class secret`
        assert.ok(!isSecret || field.class === 'secret', rule)
      }
    },
  },
]
