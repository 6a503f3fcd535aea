-- A payment whose reference only an operator gave, and a line that names it by its order number has another one.
alter table tollgate.settlement_candidate add column is_doubtful boolean not null default false;
