-- A round of a chargeback's case has a name that no reference of an acquirer can have: it holds a line break.
update tollgate.chargeback as fact
set reference = regexp_replace(fact.reference, ' (round [0-9]+)$', chr(10) || '\1')
from tollgate.chargeback as opening
where opening.kind = 'chargeback' and opening.connector = fact.connector and opening.account = fact.account
  and opening.payment_id = fact.payment_id and fact.reference ~ ' round [0-9]+$'
  and opening.reference = regexp_replace(fact.reference, ' round [0-9]+$', '');

update tollgate.chargeback as reversal
set reverses = charged.reference
from tollgate.chargeback as charged
where reversal.kind = 'reversal' and charged.kind = 'chargeback' and charged.connector = reversal.connector
  and charged.account = reversal.account and charged.payment_id = reversal.payment_id
  and charged.reference = regexp_replace(reversal.reverses, ' (round [0-9]+)$', chr(10) || '\1')
  and reversal.reverses <> charged.reference;
