-- A civil registry office, as its own software keeps it: codes are numbers, dates of marriages are texts, and nothing is deleted.
create schema office;

create table office.person (
  person_no integer primary key,
  national_no varchar(20) not null unique,
  family_name text not null,
  given_name text,
  gender smallint, -- 1 male, 2 female
  born date,
  mobile text,
  removed_at timestamptz
);
create index on office.person (born);

create table office.birth (birth_no text primary key, person_no integer not null, place text);
create index on office.birth (person_no);

create table office.marriage (
  marriage_no text primary key,
  person_no integer not null,
  married char(10) not null, -- 31/12/1990
  divorced char(10)
);
create index on office.marriage (person_no);

create table office.death (death_no text primary key, person_no integer not null unique, died date not null);
