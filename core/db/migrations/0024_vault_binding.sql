-- breaking
-- Sealed values are bound to their channel and registration as well, which processes of the version
-- before could not open. Those of before open as they are until "tollgate keys rotate" seals them anew.

-- Fingerprints had one key for all merchants. Under one key for each, those of before mean nothing any
-- more: they are unknown. Both columns change in the catalogue alone, no row is written.
drop index tollgate.registration_fingerprint;
alter table tollgate.registration drop column fingerprint;
alter table tollgate.registration add column fingerprint bytea;
create index registration_fingerprint on tollgate.registration (fingerprint, channel_id)
  where removed_at is null and fingerprint is not null;
alter table tollgate.instrument drop column fingerprint;
alter table tollgate.instrument add column fingerprint bytea;

-- While it lies ahead, notifications may still be encrypted with the key before the last rotation.
alter table tollgate.webhook_endpoint add column previous_key_until timestamptz;
