import { describe } from 'node:test'
import { walletContract } from '@tollgate/plugin-kit/testing'
import { samsungPay } from '../../../connectors/samsung-pay/index.ts'
import { createSandbox } from '../../../connectors/samsung-pay/sandbox/sandbox.ts'

describe('tokens of devices', () => walletContract(samsungPay, createSandbox()))

describe('tokens by the standard', () => {
  const forms = [
    { alg: 'RSA-OAEP', enc: 'A256GCM', authenticates: 'header' },
    { alg: 'RSA-OAEP-256', enc: 'A128GCM', authenticates: 'header' },
  ] as const
  for (const form of forms) {
    describe(`${form.alg} ${form.enc}`, () => walletContract(samsungPay, createSandbox(form)))
  }
})
