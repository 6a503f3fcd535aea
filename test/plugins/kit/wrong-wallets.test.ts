/** Every wrong wallet fails the case that is about its mistake; the right ones fail none. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { walletCases } from '@tollgate/plugin-kit/testing'
import { sampled } from '../../rig/scope.ts'
import { wrongWallets } from './wrong-wallets.ts'

for (const { mistake, wallet, sandbox, found } of sampled(wrongWallets, 10)) {
  test(`${mistake}: found by "${found}"`, async () => {
    const row = walletCases(wallet, sandbox).cases.find(({ name }) => name === found)
    assert.ok(row !== undefined, 'the case applies')
    await assert.rejects(row.run())
  })
}
