-- What was told of a resource, for its steps.
create index delivery_resource on tollgate.delivery (resource, id);
