-- A registry system that was there before: its own tables, in its own schema.
create schema crvs;

create table crvs.person (
  id bigint generated always as identity unique,
  uin text primary key,
  surname text not null,
  given_name text not null,
  sex text not null,
  born_on date not null,
  -- Counts the changes of the row.
  version bigint not null default 1
);

create table crvs.death (
  id bigint generated always as identity unique,
  number text primary key,
  uin text not null unique references crvs.person,
  died_on date not null,
  place text,
  registered_at timestamptz not null default now()
);
