-- When a capability was revoked: a retry, and whoever revokes it again, is answered with the first time.

alter table authority.capability
  add column revoke_time timestamptz,           -- set once, when it is revoked
  add constraint capability_revoked_has_time check ((state = 'revoked') = (revoke_time is not null));
