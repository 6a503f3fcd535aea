import { describe } from 'node:test'
import { walletContract } from '@tollgate/plugin-kit/testing'
import { applePay } from '../../../connectors/apple-pay/index.ts'
import { createSandbox } from '../../../connectors/apple-pay/sandbox/sandbox.ts'

for (const version of ['EC_v1', 'RSA_v1'] as const) {
  describe(version, () => walletContract(applePay, createSandbox(version)))
}
