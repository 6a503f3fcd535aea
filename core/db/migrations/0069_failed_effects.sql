-- Records whose effect failed: few, and asked for before each reversal of a late success.
create index settlement_record_failed_effect on tollgate.settlement_record (scope_id) where effect = 'failed';
