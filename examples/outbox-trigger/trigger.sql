-- Two triggers. What they INSERT commits together with the registration, or not at all.

create function crvs.publish_birth() returns trigger language plpgsql security definer set search_path = '' as $$
begin
  insert into rollcall_outbox.event (namespace, reg_event_type, record, event_id, occurred_at, source_version)
  values (
    'civil',
    'LiveBirth',
    jsonb_build_object(
      '@type', 'Person',
      'identifier', jsonb_build_array(
        jsonb_build_object('identifier_type', 'UIN', 'identifier_value', new.uin)),
      'name', jsonb_build_object('surname', new.surname, 'given_name', new.given_name),
      'sex', new.sex,
      'birth_date', new.born_on),
    'person-' || new.id,
    new.born_on,
    new.version);
  return null;
end $$;

create trigger publish_birth after insert on crvs.person
  for each row execute function crvs.publish_birth();

create function crvs.publish_death() returns trigger language plpgsql security definer set search_path = '' as $$
declare
  next_version bigint;
begin
  update crvs.person set version = version + 1 where uin = new.uin returning version into next_version;
  -- Only what is new: Rollcall merges it into the record that it has.
  insert into rollcall_outbox.event (namespace, reg_event_type, record, event_id, occurred_at, source_version)
  values (
    'civil',
    'Death',
    jsonb_build_object(
      '@type', 'Person',
      'identifier', jsonb_build_array(
        jsonb_build_object('identifier_type', 'UIN', 'identifier_value', new.uin),
        jsonb_build_object('identifier_type', 'DRN', 'identifier_value', new.number)),
      'death_date', new.died_on,
      'death_place', new.place),
    'death-' || new.id,
    new.died_on,
    next_version);
  return null;
end $$;

create trigger publish_death after insert on crvs.death
  for each row execute function crvs.publish_death();
