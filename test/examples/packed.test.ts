/** The packages as a user gets them: built and packed once for all of these. */
import './docs.ts'
import './embed.ts'
import './optional-database.ts'
