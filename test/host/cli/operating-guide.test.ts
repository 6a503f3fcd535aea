import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { describeSettings } from '../../../host/index.ts'
import { root } from '../../rig/sources.ts'

test('the operating guide lists every setting of the settings table', () => {
  const guide = readFileSync(path.join(root, 'docs/operating.md'), 'utf8')
  const code = (text: string) => (text === '' ? '' : `\`${text}\``)
  const rows = describeSettings().map(
    (row) =>
      `| \`${row.name}\` | ${code(row.env)} | ${row.format} | ${code(row.default)} | ${row.meaning} |`,
  )
  assert.ok(rows.length > 20)
  assert.deepEqual(
    guide
      .slice(guide.indexOf('| name | variable |'))
      .split('\n')
      .filter((line) => line.startsWith('| `')),
    rows,
  )
})
