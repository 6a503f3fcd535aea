-- The order in which the records of a run are stored, so that each commit finds its own by an index.
alter table tollgate.settlement_work add position integer;
create index settlement_work_position on tollgate.settlement_work (run_id, position);
