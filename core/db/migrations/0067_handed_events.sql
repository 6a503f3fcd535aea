-- The account of the merchant whose message an event is, where that is not the account of the payment.
alter table tollgate.inbound_event add column heard_by text;
