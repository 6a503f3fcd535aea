-- Searches for what few payments have, over many channels at once. To ask each of ten thousand channels in each month
-- is a million looks for a handful of payments; here they stand together, in order. A debit or preauthorisation with
-- one of the common brands writes to none of these indexes.

-- Of all channels, by type and time. The channel is beside the key: what is others' is passed over without the table.
-- The condition is that of payment_channel_type in other words: in a month without statistics a plan would take
-- either of them for the other, and read everybody's for each channel.
create index payment_type on tollgate.payment (payment_type, id) include (channel_id, brand)
  where clock_id is null and (payment_type in ('DB', 'PA')) is false;
-- Of all channels, by brand and time.
create index payment_brand on tollgate.payment (brand, id) include (channel_id, payment_type)
  where clock_id is null and (brand in ('VISA', 'MASTER', 'AMEX')) is false;
-- Of one channel: a direct debit among millions of card payments.
create index payment_channel_brand on tollgate.payment (channel_id, brand, id) include (payment_type)
  where clock_id is null and brand not in ('VISA', 'MASTER', 'AMEX');
