import assert from 'node:assert/strict'
import test from 'node:test'
import { addressRules, checkUrl, isPublicAddress } from '../../../core/net/address.ts'

const strict = addressRules({ allowLoopback: false })
const development = addressRules({ allowLoopback: true, allow: ['10.1.0.0/16', 'fd00::5'] })
const why = (url: string, rules = strict) => {
  const check = checkUrl(url, rules)
  return check.ok ? 'ok' : check.why
}

test('addresses of the public internet are public', () => {
  const addresses = [
    '1.1.1.1',
    '9.255.255.255',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '168.63.129.15',
    '2606:4700::1111',
    '2a00:1450:4001::1',
    '2001:4860:4860::8888',
  ]
  for (const address of addresses) assert.equal(isPublicAddress(address), true, address)
})

test('no private, local, reserved, metadata or translated address is public', () => {
  const addresses = [
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '5f00::1',
    '4000::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700::1%eth0',
    'fec0::1',
    'ff02::1',
  ]
  for (const address of addresses) assert.equal(isPublicAddress(address), false, address)
})

test('a malformed address is not public', () => {
  for (const text of [
    '',
    'localhost',
    'example.com',
    '1.1.1',
    '[2606:4700::1]',
    '1.1.1.1 ',
    '0x7f000001',
  ]) {
    assert.equal(isPublicAddress(text), false, text)
  }
})

test('an https URL with a name or a public address passes, without its fragment', () => {
  assert.equal(why('https://example.com/hook?a=1'), 'ok')
  assert.equal(why('https://1.1.1.1:8443/'), 'ok')
  assert.equal(why('https://[2606:4700::1111]/'), 'ok')
  const check = checkUrl('https://example.com/#part', strict)
  assert.equal(check.ok && check.url.href, 'https://example.com/')
})

test('every spelling of a non-public host is refused', () => {
  const hosts = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
    '0',
    '0.0.0.0',
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[fd00:ec2::254]',
    '10.1.2.3',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    '１２７.0.0.1',
    '127。0。0。1',
  ]
  for (const host of hosts) {
    assert.equal(why(`https://${host}/`), 'must lead to a public address', host)
  }
})

test('other protocols, logins and incomplete URLs are refused by name', () => {
  assert.equal(why('http://example.com/'), 'must be an https URL')
  assert.equal(why('http://1.1.1.1/'), 'must be an https URL')
  assert.equal(why('http://unix:/var/run/docker.sock:/'), 'must be an https URL')
  assert.equal(why('file:///etc/passwd'), 'must be an https URL')
  assert.equal(why('javascript:alert(1)'), 'must be an https URL')
  assert.equal(why('https://user@example.com/'), 'must not contain a user name or a password')
  assert.equal(why('https://:word@example.com/'), 'must not contain a user name or a password')
  assert.match(why('/hook'), /must be a complete URL/)
  assert.match(why('https://'), /must be a complete URL/)
})

test('the development list opens loopback for http and https, and its own entries for https alone', () => {
  for (const url of [
    'http://localhost:1/',
    'http://127.0.0.1:1/',
    'http://[::1]:1/',
    'https://localhost/',
    'https://10.1.2.3/',
    'https://[fd00::5]/',
  ]) {
    assert.equal(why(url, development), 'ok', url)
  }
  for (const url of ['http://10.1.2.3/', 'http://example.com/', 'http://0.0.0.0/']) {
    assert.equal(why(url, development), 'must be an https URL', url)
  }
  for (const url of ['https://10.2.0.1/', 'https://[fd00::6]/', 'https://169.254.169.254/']) {
    assert.equal(why(url, development), 'must lead to a public address', url)
  }
})

test('an unreadable development list names its entry', () => {
  for (const entry of [
    'example.com',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'fe80::1%1',
    '::/129',
    '',
  ]) {
    assert.throws(
      () => addressRules({ allowLoopback: false, allow: ['10.0.0.1', entry] }),
      /^Error: allow\[1\] must be an IP address or a CIDR block/,
      entry,
    )
  }
})

test('a closed port stays closed when a list of ports grows, and so does each port after an entry that is none', () => {
  const exceptPorts: number[] = [5432]
  const rules = addressRules({ allowLoopback: { exceptPorts } })
  const ports = () =>
    [5432, 8080].filter((port) => why(`http://127.0.0.1:${port}/`, rules) === 'ok')
  assert.deepEqual(ports(), [8080])
  exceptPorts.push('9000' as never)
  assert.deepEqual(ports(), [])
})
