-- Events about one operation take turns at all accounts of a merchant, so that open ones are found without their account.
create index inbound_event_order on tollgate.inbound_event (connector, (claim ->> 'key'), received_at)
  where processed_at is null;
drop index tollgate.inbound_event_turn;
