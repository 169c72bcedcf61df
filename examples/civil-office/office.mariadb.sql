-- The same civil registry office in MariaDB or MySQL, in a database named office. people.sql fits both.
create table person (
  person_no integer primary key,
  national_no varchar(20) not null unique,
  family_name varchar(200) not null,
  given_name varchar(200),
  gender smallint, -- 1 male, 2 female
  born date,
  mobile varchar(30),
  removed_at datetime,
  index (born)
);

create table birth (birth_no varchar(30) primary key, person_no integer not null, place varchar(200), index (person_no));

create table marriage (
  marriage_no varchar(30) primary key,
  person_no integer not null,
  married char(10) not null, -- 31/12/1990
  divorced char(10),
  index (person_no)
);

create table death (death_no varchar(30) primary key, person_no integer not null unique, died date not null);
