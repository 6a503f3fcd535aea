-- Approvals beside failures, so that every process judges their share on the same ground, also after a restart.
-- Null: a process of an earlier version wrote the row and told no approvals. Nothing can be said of their share.
alter table tollgate.card_testing add column approvals integer;

-- Rows of the dimensions with the short window go soonest: there is one a minute for each of them.
create index card_testing_short on tollgate.card_testing (changed_at) where dimension <> 'number';
