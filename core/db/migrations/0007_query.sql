-- Searches for payments and records. Nothing that settling changes is indexed: updates stay on their page.

-- By channel and time. A payment in real time was created at the time in its id, so that one index
-- serves the order, the time frame and the partitions. Type and brand are beside the key: filters
-- read them without the table.
create index payment_channel on tollgate.payment (channel_id, id) include (payment_type, brand)
  where clock_id is null;
-- Refunds, chargebacks and the like are few among the payments of a channel, and searched for by themselves.
create index payment_channel_type on tollgate.payment (channel_id, payment_type, id) include (brand)
  where clock_id is null and payment_type not in ('DB', 'PA');
-- A test clock gives a time of its own, which tells no partition: all are looked at, once for all
-- channels. Without such payments this costs nothing.
create index payment_clock on tollgate.payment (created_at, id) include (channel_id) where clock_id is not null;
-- The channel stands second: what others call their payments is never read, and a caller with many
-- channels looks once and not once for each.
create index payment_merchant_transaction on tollgate.payment (merchant_transaction_id, channel_id, id)
  where merchant_transaction_id is not null;
create index payment_short_no on tollgate.payment (short_no);

create index record_merchant_transaction on tollgate.record (merchant_transaction_id, channel_id)
  where merchant_transaction_id is not null;
create index record_short_no on tollgate.record (short_no);
