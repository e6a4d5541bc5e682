-- The thumbprint that a signed envelope's keyId stands for: of a thumbprint itself, of a name its key while the name is not
-- revoked; else null. Whether key and principal are active is for whoever asks. With the rights of its caller, so that the
-- tenant wall stands; its snapshot is that of the statement that asks.
create or replace function authority.called_key(of_tenant text, called text) returns bytea
language sql stable parallel safe security invoker
as $$
  select case
    when called collate "C" ~ '^sha256:[0-9a-f]{64}$' then decode(substr(called, 8), 'hex')
    else (
      select a.key_id from authority.key_alias a
      where a.tenant = of_tenant and a.alias = called and a.state = 'active')
  end
$$;

revoke all on function authority.called_key(text, text) from public;
grant execute on function authority.called_key(text, text)
  to authority_committer, authority_read, authority_issue, authority_propose, authority_admin;
