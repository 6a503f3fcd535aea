-- breaking
-- The page of a checkout stands in its request, and that of a payment in the payment's.
alter table tollgate.checkout drop column result_url;
