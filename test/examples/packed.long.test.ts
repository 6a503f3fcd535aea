/** The packages as users get them: built and packed once for all of these tests. */
import './docs.ts'
import './embed.ts'
import './optional-database.ts'
import './servers.ts'
import './types.ts'
