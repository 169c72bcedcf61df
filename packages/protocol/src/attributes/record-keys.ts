/**
 * Other spellings of the names of members in records and queries, as published records and examples have them
 * (public-standard.md 3.1, "record keys"; 2.3 to 2.8): for each canonical name, which `searchKey` returns, its other spellings.
 * A prefix, such as "spdci:" in `spdci:identifier`, needs no row.
 */
export const KEY_SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  address_line_1: ['address_line1'],
  address_line_2: ['address_line2'],
  area_unit: ['measurement'],
  birth_date: ['date_of_birth', 'birthDate', 'birthdate', 'dob'],
  birth_place: ['place_of_birth', 'birthPlace', 'birthplace'],
  crop_season: ['season'],
  crop_variety: ['variety'],
  death_date: ['date_of_death', 'deathDate', 'deathdate'],
  death_place: ['place_of_death', 'deathPlace', 'deathplace'],
  district: ['sub_region_code', 'sub_region'],
  divorce_date: ['date_of_divorce', 'divorcedate'],
  enrolment_date: ['enrollment_date'],
  enrolment_end_date: ['enrollment_end_date'],
  enrolment_status: ['enrollment_status', 'enrolled_status'],
  farm_size: ['land_size'],
  farmer_personal_details: ['famer_personal_details'],
  given_name: ['first_name', 'givenName'],
  group_size: ['household_size'],
  group_type: ['household_type'],
  impairment_onset: ['age_on_set'],
  impairment_type: ['disability_type'],
  is_disabled: ['disabled'],
  land_ownership: ['land_tenure'],
  last_updated: ['last_update'],
  location: ['locality', 'city'],
  marriage_date: ['date_of_marriage', 'marriagedate'],
  postal_code: ['postcode', 'zip_code'],
  programme: ['program'],
  programme_identifier: ['program_identifier'],
  programme_name: ['program_name'],
  programs_enrollments: ['programmes_enrollments', 'programmes_enrolments'],
  region: ['region_code', 'province'],
  registration_date: ['date_of_registration', 'sregistration_date'],
  sex: ['gender'],
  surname: ['sur_name', 'last_name', 'family_name', 'familyName'],
}

const NO_SPELLINGS: readonly string[] = []

/** For each spelling of a member's name, the other spellings. */
const OTHER_SPELLINGS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(KEY_SPELLINGS).flatMap(([key, spellings]) => {
    const all = [key, ...spellings]
    return all.map((one) => [one, all.filter((other) => other !== one)] as const)
  }),
)

/** For each other spelling in `KEY_SPELLINGS`, in lower case, the canonical spelling. */
const CANONICAL_KEYS: ReadonlyMap<string, string> = new Map(
  Object.entries(KEY_SPELLINGS).flatMap(([key, spellings]) =>
    spellings.map((spelling) => [spelling.toLowerCase(), key] as const),
  ),
)

/** The other spellings of a member's name, such as `gender` for `sex` and `sex` for `gender`. */
export function otherKeys(name: string): readonly string[] {
  return OTHER_SPELLINGS.get(name) ?? NO_SPELLINGS
}

/** The name of an attribute, compound or identifier type, then its aliases and the other spellings of its name, each once. */
export function namesOf(row: { readonly name: string; readonly aliases?: readonly string[] }): string[] {
  return [...new Set([row.name, ...(row.aliases ?? NO_SPELLINGS), ...otherKeys(row.name)])]
}

/**
 * The form of a name or dotted path for comparing: without prefixes such as `spdci:`, without case, and equal for all
 * spellings of a member.
 */
export function searchKey(spelling: string): string {
  // Most names have no dot: skip splitting them.
  return spelling.includes('.') ? spelling.split('.').map(searchKeyOfName).join('.') : searchKeyOfName(spelling)
}

function searchKeyOfName(segment: string): string {
  const key = segment
    .slice(segment.lastIndexOf(':') + 1)
    .trim()
    .toLowerCase()
  return CANONICAL_KEYS.get(key) ?? key
}
