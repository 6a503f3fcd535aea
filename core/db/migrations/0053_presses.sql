-- Presses of the pay button that an answer ended, by their nonces: no payment follows their soft decline.
alter table tollgate.checkout add column ended text[] not null default '{}';
-- Digests of refused presses that count as tries: the same press sent again is no further try.
alter table tollgate.checkout add column refused bytea[] not null default '{}';
