/**
 * The simulated issuer's authenticator with one mistake at a time, as real ones have them. Beside each
 * are the cases that must notice it, and no others may. Each table is about the cases of one file of the
 * suite.
 */
import type { WrongAuthenticator } from './wrong-authenticators/changed-authenticator.ts'
import { enquiryMistakes } from './wrong-authenticators/enquiry.ts'
import { eventMistakes } from './wrong-authenticators/events.ts'
import { factMistakes } from './wrong-authenticators/facts.ts'
import { lineMistakes } from './wrong-authenticators/line.ts'
import { outcomeMistakes } from './wrong-authenticators/outcomes.ts'
import { secretMistakes } from './wrong-authenticators/secrets.ts'
import { shopperMistakes } from './wrong-authenticators/shopper.ts'
import { tokenMistakes } from './wrong-authenticators/tokens.ts'

export const wrongAuthenticators: readonly WrongAuthenticator[] = [
  ...factMistakes,
  ...outcomeMistakes,
  ...enquiryMistakes,
  ...lineMistakes,
  ...tokenMistakes,
  ...shopperMistakes,
  ...secretMistakes,
  ...eventMistakes,
]
