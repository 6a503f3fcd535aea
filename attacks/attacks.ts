/** Every attack, in the order in which they are carried out. */
import type { Attack } from './attack.ts'
import { canary } from './canary.ts'
import { cardTesting } from './card-testing.ts'
import { connectors } from './connectors.ts'
import { foreignIds } from './foreign.ts'
import { oversized, smuggling } from './framing.ts'
import { decoding, fuzz } from './fuzz.ts'
import { guessing } from './guessing.ts'
import { logInjection } from './logs.ts'
import { patterns } from './patterns.ts'
import { slow } from './slow.ts'
import { vault } from './vault.ts'
import { webhooks } from './webhooks.ts'

export const attacks: readonly Attack[] = [
  fuzz,
  decoding,
  patterns,
  foreignIds,
  smuggling,
  oversized,
  slow,
  guessing,
  logInjection,
  cardTesting,
  connectors,
  vault,
  webhooks,
  canary,
]
