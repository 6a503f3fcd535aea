/** Every attack, in the order of execution. */
import type { Attack } from './attack.ts'
import { canary } from './canary.ts'
import { cardTesting } from './card-testing.ts'
import { checkoutAddresses } from './checkout-addresses.ts'
import { checkoutBearers } from './checkout-bearers.ts'
import { checkoutCards } from './checkout-cards.ts'
import { checkoutFrames } from './checkout-frames.ts'
import { returnTokens } from './checkout-returns.ts'
import { checkoutTampering } from './checkout-tampering.ts'
import { connectors } from './connectors.ts'
import { foreignIds } from './foreign.ts'
import { oversized, smuggling } from './framing.ts'
import { decoding, fuzz } from './fuzz.ts'
import { guessing } from './guessing.ts'
import { logInjection } from './logs.ts'
import { memory } from './memory.ts'
import { operators } from './operators.ts'
import { patterns } from './patterns.ts'
import { rightsOfTokens } from './rights.ts'
import { slow } from './slow.ts'
import { vault } from './vault.ts'
import { webhooks } from './webhooks.ts'
import { wrongCodes } from './wrong-codes.ts'

export const attacks: readonly Attack[] = [
  fuzz,
  decoding,
  patterns,
  foreignIds,
  rightsOfTokens,
  smuggling,
  oversized,
  slow,
  memory,
  guessing,
  operators,
  logInjection,
  cardTesting,
  wrongCodes,
  checkoutBearers,
  checkoutTampering,
  returnTokens,
  checkoutAddresses,
  checkoutFrames,
  checkoutCards,
  connectors,
  vault,
  webhooks,
  canary,
]
