/** The files of the widget: small, complete, and what the documentation says about them. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { workingOptions } from '../../../plugins/widget/browser/page/options.ts'
import { assets } from '../../../plugins/widget/index.ts'
import { root } from '../../rig/sources.ts'

const kilobyte = 1024
const small = (bytes: Buffer | string) => gzipSync(bytes, { level: 9 }).length
const file = (name: string) => assets.files.find((one) => one.name === name)!

describe('files of the widget', () => {
  test('the script has 10 kB at most, all that a card form needs 45, a language 3', () => {
    assert.ok(small(assets.loader.bytes) <= 10 * kilobyte)
    const languages = assets.files.filter(({ name }) => name.startsWith('texts-'))
    assert.equal(languages.length, 25)
    const largest = Math.max(...languages.map(({ bytes }) => small(bytes)))
    assert.ok(largest <= 3 * kilobyte, `${largest}`)
    const needed = [
      'page.js',
      'widget.css',
      'number.js',
      'cvv.js',
      'brand-VISA.svg',
      'brand-MASTER.svg',
    ]
    const frames = assets.frames.filter(({ name }) => name === 'number' || name === 'cvv')
    const whole = [
      small(assets.loader.bytes),
      largest,
      ...needed.map((name) => small(file(name).bytes)),
      ...frames.map(({ html }) => small(html)),
    ].reduce((sum, size) => sum + size, 0)
    assert.ok(whole <= 45 * kilobyte, `${whole}`)
  })

  test('are listed with their hashes, and name each other by these', () => {
    for (const { name, hash, integrity, bytes } of [assets.loader, ...assets.files]) {
      const digest = (algorithm: 'sha256' | 'sha384') =>
        createHash(algorithm).update(bytes).digest()
      assert.equal(digest('sha256').toString('base64url').slice(0, 32), hash, name)
      assert.equal(`sha384-${digest('sha384').toString('base64')}`, integrity, name)
    }
    const loader = assets.loader.bytes.toString()
    const page = file('page.js')
    for (const part of [page, file('widget.css')]) {
      assert.ok(loader.includes(part.hash) && loader.includes(part.integrity), part.name)
    }
    for (const { hash } of assets.frames) assert.ok(page.bytes.includes(hash))
    for (const { name, html } of assets.frames) assert.ok(html.includes(file(`${name}.js`).hash))
  })

  test('name no other host and hold no source of markup', () => {
    for (const { name, bytes } of [assets.loader, ...assets.files]) {
      if (!name.endsWith('.js')) continue
      // Loaded only where the page asks for it: the tests of wallets in a browser prove it.
      const code = bytes.toString().replace('https://pay.google.com/gp/p/js/pay.js', '')
      assert.doesNotMatch(code, /https?:\/\/[a-z]/, name)
      assert.doesNotMatch(
        code,
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|srcdoc/,
        name,
      )
      assert.doesNotMatch(code, /localStorage|sessionStorage|indexedDB|document\.cookie/, name)
    }
  })

  test('frames have a policy of their own that loads nothing from elsewhere', () => {
    assert.deepEqual(
      assets.frames.map(({ name }) => name),
      ['number', 'cvv', 'submit', 'challenge'],
    )
    for (const { name, contentSecurityPolicy } of assets.frames) {
      assert.match(
        contentSecurityPolicy,
        /^default-src 'none'; script-src 'self'; connect-src 'self'/,
      )
      assert.doesNotMatch(contentSecurityPolicy, /unsafe|frame-ancestors/)
      const isForBank = name === 'challenge'
      assert.equal(contentSecurityPolicy.includes('frame-src'), isForBank)
    }
  })

  test('the documentation names every option', () => {
    const text = readFileSync(path.join(root, 'docs/widget.md'), 'utf8')
    for (const name of workingOptions) {
      assert.ok(new RegExp(`\`${name}[\`(:]`).test(text), name)
    }
  })
})
