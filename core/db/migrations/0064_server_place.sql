-- The database and the table of this row: a copy that was restored or cloned has others, and then all rows of
-- queued payments are older than the note of its leader.
create table tollgate.server_place (place text not null);
insert into tollgate.server_place (place) values ('');
update tollgate.server_place set place =
  (select oid::text from pg_database where datname = current_database()) || '/' || tableoid::text;
