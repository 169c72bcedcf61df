#!/bin/sh
# Makes the two roles of docs/roles.md when PostgreSQL makes its cluster. Passwords are read from secrets.
set -eu
psql --set ON_ERROR_STOP=1 --username postgres --dbname postgres \
  --set owner_password="$(cat /run/secrets/owner_password)" \
  --set application_password="$(cat /run/secrets/application_password)" <<'SQL'
create role rollcall_owner login password :'owner_password';
create role rollcall_application login password :'application_password';
grant rollcall_application to rollcall_owner;
create database rollcall owner rollcall_owner encoding 'UTF8' template template0;
SQL
