/** A request beyond a token's rights is logged, because the token may be stolen. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../../core/index.ts'
import { type AcquirerRun, startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'

describe('refused rights', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer()
  })
  after(() => closeChecked(run))

  test('a token without the needed right is in the security log, with the right and the address', async () => {
    const { entities } = run.gateway
    const { id, token } = await entities.createToken(run.channel, 'reader', { rights: ['read'] })
    const caller = await run.gateway.authenticate(`Bearer ${token}`)
    const { status } = await run.gateway.call(
      'payments.create',
      { ...caller, address: '198.51.100.7' },
      {
        path: {},
        body: Buffer.from(`entityId=${run.channel}&amount=1.00&currency=EUR&paymentType=DB`),
        contentType: 'application/x-www-form-urlencoded',
        query: '',
        requestId: newId(),
        address: '198.51.100.7',
      },
    )
    assert.equal(status, 403)
    const alarms = run.logs.filter(({ fields }) => fields.alarm === 'rights-refused')
    assert.deepEqual(
      alarms.map(({ fields }) => [fields.security, fields.token, fields.right, fields.address]),
      [[true, id, 'charge or payout', '198.51.100.7']],
    )
  })
})
