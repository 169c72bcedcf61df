-- People of whom nobody is real.
insert into office.person values
  (1, '8100000017', 'Okoro', 'Asha', 2, '1990-12-31', '+255 700 000 017', null),
  (2, '8100000024', 'Okoro', 'Daniel', 1, '1988-03-02', null, null),
  (3, '8100000031', 'Mushi', 'Neema', 2, '1950-05-05', null, null),
  (4, '8100000048', 'Mushi', 'Twice', 2, '1950-05-05', null, '2024-02-01');
insert into office.birth values ('B-1990-77', 1, 'Moshi'), ('B-1950-12', 3, 'Arusha');
insert into office.marriage values ('M-2015-3', 1, '20/06/2015', null), ('M-2015-3b', 2, '20/06/2015', null);
insert into office.death values ('D-2020-9', 3, '2020-11-01');
