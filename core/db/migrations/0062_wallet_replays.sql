-- Tokens of wallets that a payment was made with. A row comes with its payment, and refuses the token to every other
-- payment until the wallet itself refuses it.
create table tollgate.wallet_replay (
  wallet text not null,
  -- Digest of the wallet's own id of the token.
  hash bytea not null,
  payment_id uuid not null,
  until timestamptz not null,
  primary key (wallet, hash)
);
create index wallet_replay_until on tollgate.wallet_replay (until);
