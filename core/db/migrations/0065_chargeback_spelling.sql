-- An acquirer's message and a settlement line can spell the reference of one chargeback in two ways.
create index chargeback_folded on tollgate.chargeback (connector, account, kind, lower(btrim(reference)));
create index chargeback_told_folded on tollgate.chargeback (connector, account, kind, lower(btrim(told_as)))
  where told_as is not null;
