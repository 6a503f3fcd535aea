-- The number of this database in an installation of several databases. Every database from before is pod 0.
alter table tollgate.installation add column pod smallint not null default 0 check (pod between 0 and 49);

-- The key that acquirers' keys derive from, when the pods of an installation share it.
alter table tollgate.data_key drop constraint data_key_purpose_check;
alter table tollgate.data_key add constraint data_key_purpose_check check (purpose in ('seal', 'mac', 'acquirer'));
