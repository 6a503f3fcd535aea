-- A message and a settlement line can tell of one dispute, one of them without the acquirer's reference: the
-- source of the later one.
alter table tollgate.chargeback add column confirmed_by text;

-- When a record that could not take effect yet is tried again.
alter table tollgate.settlement_record add column effect_after timestamptz;

-- Open effects of a scope, in any file.
create index settlement_record_open_effect on tollgate.settlement_record (scope_id) where effect = 'open';
drop index tollgate.settlement_record_effect;
