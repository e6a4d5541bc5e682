-- What the relay notes of each event: who delivers it and until when, how often the sink refused it, and when it was
-- taken. Nothing of an event itself ever changes.
-- depends: 0004.receipt_key_last

alter table authority.outbox
  add column claim_token uuid,                  -- of the claim under which it is being delivered
  add column claim_until_time timestamptz,      -- then whoever claimed it is taken for dead
  add column attempts integer not null default 0, -- that ended with the sink refusing it
  add column last_error text not null default '',
  add column retry_time timestamptz,            -- not before, after a refusal
  add column parked boolean not null default false, -- given up until an operator replays it
  add column delivered_time timestamptz,
  add constraint outbox_claim_ends check ((claim_token is null) = (claim_until_time is null)),
  add constraint outbox_delivered_is_settled check (delivered_time is null or (claim_token is null and not parked));

-- However many events were delivered, the relay looks only at those that were not.
create index outbox_pending on authority.outbox (create_time) where delivered_time is null and not parked;
create index outbox_delivered_by_age on authority.outbox (delivered_time) where delivered_time is not null;

-- The key that parked events refer to is made last, for what 0004 tells of the receipts' key: each event that is forgotten
-- is looked up by it once more.
alter table authority.outbox drop constraint outbox_key;
alter table authority.outbox add constraint outbox_key primary key (tenant, id);

-- Why and when an event was given up. It goes when the event is replayed.
create table authority.outbox_parked (
  tenant text not null,
  id uuid not null,
  attempts integer not null,
  last_error text not null,
  park_time timestamptz not null,
  constraint outbox_parked_key primary key (tenant, id),
  constraint outbox_parked_is_of_event foreign key (tenant, id) references authority.outbox (tenant, id)
);
