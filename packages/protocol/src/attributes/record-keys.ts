/**
 * Other spellings of record members, as met in published records and examples (public-standard.md 3.1, "record
 * keys"; 2.3 to 2.8). The key on the left is the one that the paths of the kinds use. A prefix, such as
 * "spdci:" in `spdci:identifier`, needs no row: it is found with every key.
 */
export const KEY_SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  address_line_1: ['address_line1'],
  address_line_2: ['address_line2'],
  birth_date: ['date_of_birth', 'birthDate', 'birthdate'],
  birth_place: ['place_of_birth', 'birthPlace', 'birthplace'],
  death_date: ['date_of_death', 'deathDate', 'deathdate'],
  death_place: ['place_of_death', 'deathPlace', 'deathplace'],
  divorce_date: ['date_of_divorce', 'divorcedate'],
  enrolment_date: ['enrollment_date'],
  enrolment_status: ['enrollment_status'],
  farmer_personal_details: ['famer_personal_details'],
  given_name: ['first_name', 'givenName'],
  group_size: ['household_size'],
  last_updated: ['last_update'],
  marriage_date: ['date_of_marriage', 'marriagedate'],
  programme: ['program'],
  programme_identifier: ['program_identifier'],
  programme_name: ['program_name'],
  programs_enrollments: ['programmes_enrollments', 'programmes_enrolments'],
  registration_date: ['sregistration_date'],
  sex: ['gender'],
  surname: ['sur_name', 'last_name', 'familyName'],
}
