import { walletContract } from '@tollgate/plugin-kit/testing'
import { googlePay } from '../../../connectors/google-pay/index.ts'
import { createSandbox } from '../../../connectors/google-pay/sandbox/sandbox.ts'

walletContract(googlePay, createSandbox())
