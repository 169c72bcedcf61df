-- The account of Rollcall: it may read these tables, and nothing else. Give it a password of your own.
create role rollcall_reader login password 'change-me';
grant usage on schema office to rollcall_reader;
grant select on all tables in schema office to rollcall_reader;
revoke create on schema public from public;
