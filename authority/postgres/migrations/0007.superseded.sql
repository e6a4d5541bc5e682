-- Corrections: which record a proposal corrects, which one a record replaced, and by which one it was replaced and when.
-- Withdrawals: why.
-- depends: 0004.receipt_key_last

alter table authority.proposal_head
  add column supersedes_record_id uuid,         -- null: it corrects nothing
  add constraint proposal_head_corrects_a_record foreign key (tenant, supersedes_record_id)
    references authority.memory_record (tenant, record_id);

alter table authority.memory_record
  add column supersedes_record_id uuid,         -- null: it replaced nothing
  add column superseded_by uuid,                -- set once, with the time, by the commit of a correction
  add column supersede_time timestamptz,
  add constraint memory_record_superseded_has_time check ((superseded_by is null) = (supersede_time is null));
-- Of all corrections of a record one is committed.
create unique index memory_record_superseded_once
  on authority.memory_record (tenant, supersedes_record_id) where supersedes_record_id is not null;

alter table authority.tombstone add column note text not null default '';
