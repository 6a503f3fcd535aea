-- Chargebacks of settlement files that hold refunds and reversals of the payments that they may be about.
create index settlement_record_waiting on tollgate.settlement_record using gin (candidates) with (fastupdate = off)
  where record_type = 'CHARGEBACK' and status <> 'FAILED'
    and (effect in ('open', 'failed') or match_status = 'MULTIPLE_MATCHES');
