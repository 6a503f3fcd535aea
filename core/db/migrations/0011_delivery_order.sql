-- What waits before a notification is found by its resource alone. With the endpoint in front, the planner took
-- the index of what is due as well, and read everything that waits for an endpoint.
drop index tollgate.delivery_order;
create index delivery_order on tollgate.delivery (resource, seq) where state = 'pending';
