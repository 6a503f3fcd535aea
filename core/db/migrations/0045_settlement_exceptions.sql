-- Records that operators look at, newest first.
create index settlement_record_exception on tollgate.settlement_record (id)
  where match_status in ('NOT_MATCHED', 'MULTIPLE_MATCHES') or cardinality(discrepancies) > 0 or effect = 'failed';
