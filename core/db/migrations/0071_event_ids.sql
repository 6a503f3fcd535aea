-- An event id counts for one operation per merchant number, so that ids are found at all accounts of a number.
create index inbound_event_id on tollgate.inbound_event (connector, event_id);
