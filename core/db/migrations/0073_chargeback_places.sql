-- Two reports of one chargeback can have nothing in common but the payment and the amount. Each report takes the place
-- after those that it has read, so that of two at one moment one is recorded, and the other reads it.
alter table tollgate.chargeback
  add column family uuid,
  add column place integer;
create unique index chargeback_place on tollgate.chargeback (family, place);
