-- REPEATED: an earlier file with another reference has an equal line without an id.
alter table tollgate.settlement_exception drop constraint settlement_exception_kind_check;
alter table tollgate.settlement_exception add constraint settlement_exception_kind_check
  check (kind in ('UNKNOWN_TYPE', 'UNREADABLE', 'CHANGED', 'UNKNOWN_ACCOUNT', 'REPEATED'));
