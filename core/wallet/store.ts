/** SQL about tokens of wallets. The rows are written by the first commit of their payments. */
import { sql } from '../db/sql.ts'

/** The constraint that a token breaks when it comes again. */
export const replayConstraint = 'wallet_replay_pkey'

/** The payment that was made with a token. */
export const replayOf = (wallet: string, digest: Buffer) => sql<{ payment_id: string }>`
  select payment_id
  from tollgate.wallet_replay
  where wallet = ${wallet}::text and hash = ${digest}::bytea`

/** A batch of tokens that their wallets refuse by themselves by now. Clocks of machines may differ by an hour. */
export const purgeReplays = (now: Date, batch: number) => sql<{ payment_id: string }>`
  delete from tollgate.wallet_replay
  where ctid in (
    select ctid
    from tollgate.wallet_replay
    where until < ${now}::timestamptz - interval '1 hour'
    limit ${batch}::integer)
  returning payment_id`
