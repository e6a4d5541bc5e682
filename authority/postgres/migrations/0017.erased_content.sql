-- Content that failed for secrets is erased after its review; its digest stays (functions/18_erase_reviewed.sql).
-- depends: 0008.audit_and_revocations

-- What is to be erased, from the validation that failed until it is.
create table authority.content_to_erase (
  tenant text not null,
  proposal_id uuid not null,
  revision integer not null,
  fail_time timestamptz not null,
  due_time timestamptz not null,                -- when it is erased though nobody has looked at it
  constraint content_to_erase_key primary key (tenant, proposal_id, revision),
  constraint content_to_erase_of_revision foreign key (tenant, proposal_id, revision)
    references authority.proposal (tenant, proposal_id, revision),
  constraint content_to_erase_has_time check (fail_time < due_time)
);

-- Erased is what is empty and found by nothing: a proposal comes with content, and with what it is found by.
alter table authority.proposal drop constraint proposal_content_bounded;
alter table authority.proposal add constraint proposal_content_bounded check (
  octet_length(content) between 1 and 1048576 or (octet_length(content) = 0 and search is null));
alter table authority.proposal drop constraint proposal_content_digest_fits;
alter table authority.proposal add constraint proposal_content_digest_fits
  check (content_digest = sha256(content) or octet_length(content) = 0);
