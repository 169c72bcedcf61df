/** Makes households with plausible ages, marriages, deaths and children. Days are day numbers (dates.ts). */
import { CENSUS_DAY } from './dates.ts'
import type { Sex } from './names.ts'
import type { RandomStream } from './stream.ts'

const YEAR_DAYS = 365.2425
const COMING_OF_AGE_DAYS = Math.ceil(18 * YEAR_DAYS)
/** All deaths are within this number of days before the census day. */
const DEATHS_BEFORE_CENSUS_DAYS = 6 * 365

/** The relation of a person to the head of the household. */
export type HouseholdRole = 'head' | 'spouse' | 'child' | 'parent'

/**
 * A marriage. The MRN (marriage registration number) of both partners is made from `number`, the index of one partner.
 * `divorce_day` is null without a divorce.
 */
export interface MarriageDays {
  readonly number: number
  readonly marriage_day: number
  readonly divorce_day: number | null
}

/** A member of a household, before the member has a name. */
export interface HouseholdMember {
  readonly role: HouseholdRole
  readonly sex: Sex
  readonly birth_day: number
  readonly death_day: number | null
  readonly union: MarriageDays | null
  /** A code of the marital_status list. */
  readonly marital_status: 'S' | 'M' | 'W' | 'D'
}

type MemberWithoutMarriage = Pick<HouseholdMember, 'role' | 'sex' | 'birth_day' | 'death_day'>

/** The first and last day on which children of the household can be born. */
interface ChildbearingDays {
  readonly from: number
  readonly to: number
}

/**
 * Makes the members of a household of `size`: a head, mostly a spouse, in some large households a parent of the head,
 * and children for the rest.
 * @param first the index of the head
 */
export function makeHouseholdMembers(stream: RandomStream, first: number, size: number): [HouseholdMember, ...HouseholdMember[]] {
  // People die in the last six years only. A head of 24 or more was of age (18) before these years, so children can be born
  // before the head dies. In a household of one or two the head may be younger; in one of two, the head dies only when of age.
  const [youngest, oldest] = size > 2 ? [24, 58] : [20, 88]
  const headAge = stream.between(youngest, oldest)
  const sex: Sex = stream.chance(0.6) ? 'male' : 'female'
  const headBirth = drawBirthDay(stream, headAge)
  const married = size > 1 && stream.chance(0.75)
  const places: [HouseholdMember, ...HouseholdMember[]] = married
    ? makeCouple(stream, first, sex, headBirth, Math.max(youngest, headAge + stream.between(-7, 5)))
    : [
        makeSingle(
          stream,
          makeMemberWithoutMarriage(stream, 'head', sex, headBirth, size > 1 ? headBirth + COMING_OF_AGE_DAYS : headBirth),
          first,
        ),
      ]
  const bearing = childbearingDaysOf(places)
  const withParent = size >= 5 && stream.chance(0.35)
  while (places.length < size) {
    const parental = withParent && places.length === size - 1
    places.push(parental ? makeParent(stream, headBirth, first + size - 1) : makeChild(stream, bearing))
  }
  return places
}

/** Makes a head and a spouse with one marriage. When one of them has died, the other is widowed. */
function makeCouple(
  stream: RandomStream,
  first: number,
  sex: Sex,
  headBirth: number,
  spouseAge: number,
): [HouseholdMember, HouseholdMember] {
  const spouseBirth = drawBirthDay(stream, spouseAge)
  const union = makeMarriage(stream, first, Math.max(headBirth, spouseBirth) + COMING_OF_AGE_DAYS)
  const head = makeMemberWithoutMarriage(stream, 'head', sex, headBirth, union.marriage_day)
  const spouse = makeMemberWithoutMarriage(stream, 'spouse', sex === 'male' ? 'female' : 'male', spouseBirth, union.marriage_day)
  return [
    { ...head, union, marital_status: spouse.death_day === null ? 'M' : 'W' },
    { ...spouse, union, marital_status: head.death_day === null ? 'M' : 'W' },
  ]
}

/** Makes a household member without a spouse in the household, who is divorced or widowed, or was never married. */
function makeSingle(stream: RandomStream, person: MemberWithoutMarriage, index: number): HouseholdMember {
  const grown = person.birth_day + COMING_OF_AGE_DAYS
  const past = stream.below(100)
  const young = grown > CENSUS_DAY - DEATHS_BEFORE_CENSUS_DAYS - 10
  if (past < 50 || young) return { ...person, union: null, marital_status: 'S' }
  const union = makeMarriage(stream, index, grown)
  if (past < 75) return { ...person, union, marital_status: 'W' }
  const divorce_day = stream.between(union.marriage_day + 1, (person.death_day ?? CENSUS_DAY) - 1)
  return { ...person, union: { ...union, divorce_day }, marital_status: 'D' }
}

function makeChild(stream: RandomStream, { from, to }: ChildbearingDays): HouseholdMember {
  const sex: Sex = stream.chance(0.5) ? 'female' : 'male'
  return { ...makeMemberWithoutMarriage(stream, 'child', sex, stream.between(from, to)), union: null, marital_status: 'S' }
}

/** Makes a parent of the head, 18 to 40 years older than the head. */
function makeParent(stream: RandomStream, headBirth: number, index: number): HouseholdMember {
  const sex: Sex = stream.chance(0.7) ? 'female' : 'male'
  const birth_day = headBirth - stream.between(COMING_OF_AGE_DAYS, Math.floor(40 * YEAR_DAYS))
  return makeSingle(stream, makeMemberWithoutMarriage(stream, 'parent', sex, birth_day), index)
}

/**
 * The days on which children can be born: after both parents have come of age, at most 28 years ago, and until a parent's death
 * or 30 days before the census.
 */
function childbearingDaysOf(parents: readonly HouseholdMember[]): ChildbearingDays {
  const comingOfAgeDay = Math.max(...parents.map((each) => each.birth_day)) + COMING_OF_AGE_DAYS
  const ends = parents.map((each) => each.death_day ?? CENSUS_DAY - 30)
  return { from: Math.max(comingOfAgeDay, CENSUS_DAY - 28 * 365), to: Math.min(...ends) }
}

/** A marriage in the ten years after coming of age (`grown`). If possible, it is before the six years in which people die. */
function makeMarriage(stream: RandomStream, number: number, grown: number): MarriageDays {
  const latest = Math.min(grown + 3650, CENSUS_DAY - DEATHS_BEFORE_CENSUS_DAYS - 10)
  return { number, marriage_day: stream.between(grown, latest), divorce_day: null }
}

function drawBirthDay(stream: RandomStream, age: number): number {
  return CENSUS_DAY - Math.floor(age * YEAR_DAYS) - stream.below(365)
}

/** Makes a person. Some have died, older people more often, but never before `notBefore`. */
function makeMemberWithoutMarriage(
  stream: RandomStream,
  role: HouseholdRole,
  sex: Sex,
  birth_day: number,
  notBefore = birth_day,
): MemberWithoutMarriage {
  const age = (CENSUS_DAY - birth_day) / YEAR_DAYS
  const died = stream.chance(age < 50 ? 0.01 : age < 70 ? 0.07 : 0.3)
  const day = CENSUS_DAY - stream.below(DEATHS_BEFORE_CENSUS_DAYS)
  return { role, sex, birth_day, death_day: died ? Math.max(day, notBefore) : null }
}
