/**
 * The example connector with one mistake at a time, as real connectors make them. Beside each are
 * the cases that must notice it, and no others may. Each table is about the cases of one file of the suite.
 */
import { answerMistakes } from './wrong-connectors/answers.ts'
import type { Wrong } from './wrong-connectors/changed-connector.ts'
import { completionMistakes } from './wrong-connectors/completion.ts'
import { currencyMistakes } from './wrong-connectors/currencies.ts'
import { eventMistakes } from './wrong-connectors/events.ts'
import { factMistakes } from './wrong-connectors/facts.ts'
import { followUpMistakes } from './wrong-connectors/follow-ups.ts'
import { keyMistakes } from './wrong-connectors/keys.ts'
import { lineMistakes } from './wrong-connectors/line.ts'
import { loadMistakes } from './wrong-connectors/load.ts'
import { mixUpMistakes } from './wrong-connectors/mix-ups.ts'
import { newsMistakes } from './wrong-connectors/news.ts'
import { outcomeMistakes } from './wrong-connectors/outcomes.ts'
import { resolveMistakes } from './wrong-connectors/resolve.ts'
import { reversalMistakes } from './wrong-connectors/reversals.ts'
import { secretMistakes } from './wrong-connectors/secrets.ts'
import { tokenMistakes } from './wrong-connectors/tokens.ts'

export const wrongConnectors: readonly Wrong[] = [
  ...factMistakes,
  ...outcomeMistakes,
  ...answerMistakes,
  ...followUpMistakes,
  ...currencyMistakes,
  ...keyMistakes,
  ...lineMistakes,
  ...resolveMistakes,
  ...reversalMistakes,
  ...tokenMistakes,
  ...completionMistakes,
  ...mixUpMistakes,
  ...eventMistakes,
  ...newsMistakes,
  ...secretMistakes,
  ...loadMistakes,
]
