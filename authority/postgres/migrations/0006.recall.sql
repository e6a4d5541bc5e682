-- What recall looks for, made once when a proposal is taken and copied by its commit; and who cited a record.
-- depends: 0004.receipt_key_last

alter table authority.proposal add column search tsvector;       -- null: nothing in it is searched
alter table authority.memory_record add column search tsvector;

create table authority.citation (
  tenant text not null,
  citation_id uuid not null,
  record_id uuid not null,
  memory_namespace text not null,
  content_digest bytea not null,                -- of the record: what was cited is found by it whatever became of it
  receipt_digest bytea not null,                -- statement digest of the record's commit receipt
  cited_by text not null,
  citing_kind text not null,                    -- what kind of thing cites, and which one: the citer's words
  citing_ref text not null,
  create_time timestamptz not null,
  constraint citation_key primary key (tenant, citation_id),
  constraint citation_told_once unique (tenant, record_id, cited_by, citing_kind, citing_ref),
  constraint citation_of_record foreign key (tenant, record_id)
    references authority.memory_record (tenant, record_id),
  constraint citation_by_principal foreign key (tenant, cited_by) references authority.principal (tenant, principal),
  constraint citation_digests_are_digests
    check (octet_length(content_digest) = 32 and octet_length(receipt_digest) = 32)
);
create index citation_by_record on authority.citation (tenant, record_id, citation_id);
create index citation_by_content on authority.citation (tenant, memory_namespace, content_digest, citation_id);

-- What was proposed before is searched as well. New content is bounded before it comes here; old content whose words
-- are too many for a tsvector stays unsearched. The tables' owner is held by the tenant wall, which opens meanwhile.
create function authority.search_of_old(content bytea, media_type text) returns tsvector
language plpgsql immutable as $$
declare
  said text := convert_from(content, 'UTF8');
begin
  return case media_type
    when 'text/plain' then setweight(to_tsvector('simple', left(said, 65536)), 'A')
    when 'application/json' then
      setweight(jsonb_to_tsvector('simple', said::jsonb, '["string"]'), 'A')
        || setweight(jsonb_to_tsvector('simple', said::jsonb, '["key"]'), 'D')
  end;
exception when others then
  return null;
end $$;
alter table authority.proposal no force row level security;
alter table authority.memory_record no force row level security;
update authority.proposal set search = authority.search_of_old(content, media_type);
update authority.memory_record set search = authority.search_of_old(content, media_type);
alter table authority.proposal force row level security;
alter table authority.memory_record force row level security;
drop function authority.search_of_old(bytea, text);
