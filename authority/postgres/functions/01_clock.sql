-- Times are judged by the service's clock, and only where that agrees with the database's within a bound: a service that
-- is ahead would expire what lives, one that is behind would issue and commit what has expired. Without either of the two
-- nothing could be judged, so nothing would be refused.
create or replace function authority.require_clock(judged_at timestamptz, clock_bound interval) returns void
language plpgsql volatile as $$
begin
  if judged_at is null or clock_bound is null
    or abs(extract(epoch from clock_timestamp() - judged_at)) > extract(epoch from clock_bound)
  then
    raise exception 'the service clock is off the database clock' using errcode = 'CA001';
  end if;
end $$;
