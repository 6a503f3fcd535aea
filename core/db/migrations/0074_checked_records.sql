-- The version of a record that an operator has checked: a later version is to be checked again.
alter table tollgate.settlement_record add column checked_version integer;
