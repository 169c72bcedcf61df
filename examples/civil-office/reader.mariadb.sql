-- The same account in MariaDB or MySQL: it may read the office's database, and nothing else. Give it a password of your own.
create user rollcall_reader identified by 'change-me';
grant select on office.* to rollcall_reader;
