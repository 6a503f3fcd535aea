/** Strangers do not keep others from their login. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import type { ServerContext, ServerLogin } from '@tollgate/plugin-kit'
import ssh2, { type PublicKeyAuthContext } from 'ssh2'
import { authenticate, Connections } from '../../../plugins/file-server/connection.ts'
import { defaultLimits } from '../../../plugins/file-server/limits.ts'
import { networkOf } from '../../../plugins/file-server/network.ts'
import { newSshKey } from '../../rig/ssh-keys.ts'

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string
  readonly remotePort: number
  destroyed = false
  writableLength = 0
  constructor(remoteAddress: string, remotePort: number) {
    super()
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
  }
  pause() {}
  resume() {}
  /** As for a real socket, the end is heard later. */
  destroy() {
    this.destroyed = true
    setImmediate(() => this.emit('close'))
  }
}

function startDoor(limits = {}) {
  const connections = new Connections({ ...defaultLimits, loginMs: 60_000, ...limits })
  const sockets: FakeSocket[] = []
  return {
    sockets,
    /** A connection; undefined when it is refused. */
    come(address: string): FakeSocket | undefined {
      const socket = new FakeSocket(address, 10_000 + sockets.length)
      sockets.push(socket)
      return connections.admits(socket as unknown as Socket) ? socket : undefined
    },
    logIn({ remoteAddress, remotePort }: FakeSocket, entityId: string, merchantId = entityId) {
      const guest = connections.of({ ip: remoteAddress, port: remotePort })!
      Object.assign(guest, { entityId, merchantId })
      guest.hasAsked(60_000)
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

test('silent connections of ten networks leave places for everybody else', async () => {
  const door = startDoor()
  for (let host = 1; host <= 10; host += 1) {
    for (let count = 0; count < 10; count += 1) door.come(`192.0.2.${host}`)
  }
  const merchant = door.come('198.51.100.7')!
  for (let count = 0; count < 100; count += 1) door.come(`192.0.2.${(count % 10) + 1}`)
  assert.equal(merchant.destroyed, false)
  const open = door.sockets.filter(({ destroyed }) => !destroyed)
  assert.ok(open.length > 0)
  door.logIn(merchant, 'merchant')
  // Later ones drive out neither a login nor more than the places of strangers.
  for (let host = 1; host <= 200; host += 1) assert.ok(door.come(`203.0.113.${host}`))
  assert.equal(merchant.destroyed, false)
  assert.ok(door.come('198.51.100.7'))
  await door.close()
})

test('the newcomer gets the place of the oldest stranger, and no place of a login', async () => {
  const door = startDoor({ connections: 4, strangers: 2 })
  const logins = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => {
    const socket = door.come(address)!
    door.logIn(socket, address)
    return socket
  })
  const first = door.come('192.0.2.4')!
  const second = door.come('192.0.2.5')!
  assert.deepEqual([first.destroyed, second.destroyed], [true, false])
  door.logIn(second, 'four')
  assert.equal(door.come('192.0.2.6'), undefined)
  assert.ok(logins.every(({ destroyed }) => !destroyed))
  await door.close()
})

test('a connection ends when too many bytes come before its login, or wait for it after that', async () => {
  const door = startDoor({ loginBytes: 1_000, quietBytes: 4_000, unsentBytes: 10, readBytes: 10 })
  const hear = (socket: FakeSocket, bytes: number) => socket.emit('data', Buffer.alloc(bytes))
  const stranger = door.come('192.0.2.1')!
  hear(stranger, 1_000)
  assert.equal(stranger.destroyed, false)
  hear(stranger, 1)
  assert.equal(stranger.destroyed, true)
  const merchant = door.come('192.0.2.2')!
  hear(merchant, 900)
  door.logIn(merchant, 'merchant')
  hear(merchant, 900)
  merchant.writableLength = 40
  hear(merchant, 1)
  assert.equal(merchant.destroyed, false)
  merchant.writableLength = 41
  hear(merchant, 1)
  assert.equal(merchant.destroyed, true)
  await door.close()
})

test('the addresses of one IPv6 network count as one, and IPv4 addresses each for itself', async () => {
  const door = startDoor({ strangersPerNetwork: 2 })
  assert.ok(door.come('2001:db8:0:1::1'))
  assert.ok(door.come('2001:db8:0:1:ffff::2'))
  assert.equal(door.come('2001:db8:0:1:a:b:c:d'), undefined)
  assert.ok(door.come('2001:db8:0:2::1'))
  assert.ok(door.come('::ffff:192.0.2.1'))
  assert.ok(door.come('192.0.2.1'))
  assert.equal(door.come('192.0.2.1'), undefined)
  assert.ok(door.come('192.0.2.2'))
  await door.close()
  const networks = ['::1', '2001:DB8::', 'fe80::1%eth0', '64:ff9b::192.0.2.1', '1:2:3:4:5:6:7:8']
  assert.deepEqual(networks.map(networkOf), [
    ...['0:0:0:0::/64', '2001:db8:0:0::/64', 'fe80:0:0:0::/64', '64:ff9b:0:0::/64', '1:2:3:4::/64'],
  ])
})

test('a signature is checked only with a key that somebody is known by', async () => {
  const signer = ssh2.utils.parseKey(newSshKey().private)
  assert.ok(!(signer instanceof Error))
  const blob = Buffer.from('what a client signs')
  const signed = signer.sign(blob)
  const key = { algo: signer.type, data: signer.getPublicSSH() }
  /** What a login with this signature leads to, and the questions that it raises. */
  const tried = async (isKnown: boolean, signature: Buffer) => {
    const questions: string[] = []
    const context = {
      async knows() {
        questions.push('knows')
        return isKnown
      },
      async login() {
        questions.push('login')
        return { entityId: 'merchant' } as ServerLogin
      },
    } as Pick<ServerContext, 'knows' | 'login'> as ServerContext
    const asked = { method: 'publickey', username: 'merchant', key, signature, blob }
    const found = await authenticate(asked as PublicKeyAuthContext, context)
    return [found === undefined ? 'refused' : 'logged in', ...questions]
  }
  assert.deepEqual(await tried(true, signed), ['logged in', 'knows', 'login'])
  assert.deepEqual(await tried(true, Buffer.alloc(64)), ['refused', 'knows'])
  // Checked first, this one would raise no question.
  assert.deepEqual(await tried(false, Buffer.alloc(64)), ['refused', 'knows'])
})
