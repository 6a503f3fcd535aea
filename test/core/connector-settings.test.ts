/** Settings of connectors under names that nobody reads. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { definePlugin, none, O, PluginError, request, settings } from '@tollgate/plugin-kit'
import { checkPlugins } from '../../core/index.ts'
import { scriptedAcquirer } from '../rig/acquirer.ts'

describe('settings of connectors', () => {
  const { plugin } = scriptedAcquirer()
  const [connector] = plugin.connectors!
  const config = settings('Acme', [
    ['region', { kind: 'text', min: 1, max: 8 }, O, request, none, 'The region of the account.'],
  ])
  const configured = definePlugin({
    ...plugin,
    connectors: [
      { ...connector!, name: 'acme', config },
      { ...connector!, name: 'plain' },
    ],
  })
  const refusal = (configs: Record<string, Record<string, unknown>>) => {
    try {
      checkPlugins([configured], configs)
      return undefined
    } catch (error) {
      assert.ok(error instanceof PluginError, String(error))
      return error.message
    }
  }

  test('a name that no plugin brings is refused, with the names that are there', () => {
    assert.match(refusal({ acem: { region: 'eu' } })!, /^connectors\.acem: .*acme, plain/)
    assert.match(refusal({ acem: {} })!, /^connectors\.acem: /)
    assert.equal(refusal({ acme: { region: 'eu' }, plain: {} }), undefined)
  })

  test('settings of a connector that takes none are refused', () => {
    assert.match(refusal({ plain: { region: 'eu' } })!, /^connectors\.plain: it takes no settings/)
  })
})
