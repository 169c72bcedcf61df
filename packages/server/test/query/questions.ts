/** Questions for every kind: each as a query, and as a check of a record by hand. */
import { ages, at, days, firstOf, todayNumber } from './by-hand.ts'

export type Document = { readonly '@id': string; readonly '@type': string }

export const comparison = (attribute_name: string, operator: string, attribute_value: unknown) => ({
  attribute_name,
  operator,
  attribute_value,
})
type Comparison = ReturnType<typeof comparison>

/** Makes one element of an expression list. */
export const element = (expression1: Comparison, condition?: string, expression2?: Comparison) => ({
  seq_num: 1,
  expression1,
  condition,
  expression2,
})
export const predicate = (...query: object[]) => ({ query_type: 'predicate', query })
export const expression = (query: object, collection?: string) => ({
  query_type: 'expression',
  query: { type: 'ns:org:QueryType:expression', value: { expression: { collection, query } } },
})
export const graphql = (text: string) => ({
  query_type: 'graphql',
  query: { type: 'ns:org:QueryType:graphql', value: { expression: text } },
})

/** Whether a value at one of the paths is one of these words, in upper or lower case. */
const says = (document: Document, paths: string[], ...words: string[]): boolean =>
  firstOf(document, ...paths).some((value) => words.includes(String(value).toLowerCase()))

const isGroup = (document: Document) => document['@type'] === 'spdci:Group'
const isMember = (document: Document) => document['@type'] === 'Member'

const PERSON = 'member.demographic_info.person'
const isFemale = (document: Document, path: string) => says(document, [path], 'female', 'f')
const isMale = (document: Document, path: string) => says(document, [path], 'male', 'm')
const today = todayNumber()
/** The most years that a person may be old; Infinity without a birth date. */
const oldestAge = (document: Document, path: string) => ages(at(document, path)[0], today)?.[1] ?? Infinity
const score = (document: Document) => {
  const [value] = firstOf(document, 'poverty_score', 'additional_attributes.poverty_score')
  return value === undefined ? Number.NaN : Number(value)
}
/** The day from which, and the day until which, somebody may have been born. */
const born = (document: Document, path: string) => days(at(document, path)[0]) ?? [Number.NaN, Number.NaN]

interface Question {
  readonly ask: object
  readonly says: (document: Document) => boolean
}
export const QUESTIONS: readonly (readonly [kind: string, title: string, question: Question])[] = [
  [
    'civil',
    'predicate: age lt 30 and sex female',
    {
      ask: predicate(element(comparison('age', 'lt', '30'), 'and', comparison('sex', 'eq', 'female'))),
      says: (person) => oldestAge(person, 'birth_date') < 30 && isFemale(person, 'sex'),
    },
  ],
  [
    'civil',
    'predicate: two elements, or and not',
    {
      ask: predicate(
        element(comparison('sex', 'eq', 'M'), 'or', comparison('marital_status', 'eq', 'single')),
        element(comparison('birth_date', 'ge', '1980'), 'not', comparison('location', 'eq', 'FARROW')),
      ),
      says: (person) =>
        (isMale(person, 'sex') || says(person, ['marital_status'], 's', 'single')) &&
        born(person, 'birth_date')[0] >= 19800101 &&
        at(person, 'address.locality').length > 0 &&
        !says(person, ['address.locality'], 'farrow'),
    },
  ],
  [
    'civil',
    'expression: born from 1970 to 1989 and not known to be dead',
    {
      ask: expression({ birth_date: { $gte: '1970', $lt: '1990' }, death_date: { $exists: false } }),
      says: (person) => {
        const [from, to] = born(person, 'birth_date')
        return from >= 19700101 && to < 19900101 && at(person, 'death_date').length === 0
      },
    },
  ],
  [
    'civil',
    'graphql: women born before 1960',
    {
      ask: graphql('{ person(sex: "F", birth_date: {lt: "1960"}) { UIN } }'),
      says: (person) => isFemale(person, 'sex') && born(person, 'birth_date')[1] < 19600101,
    },
  ],
  [
    'ibr',
    'predicate: a programme and its status',
    {
      ask: predicate(
        element(comparison('programme_identifier', 'eq', 'prg-06'), 'and', comparison('enrolment_status', 'eq', 'Active')),
      ),
      says: (beneficiary) =>
        at(beneficiary, 'member.programme_identifier').some(
          (enrolment) =>
            at(enrolment, 'programme.programme_identifier')[0] === 'PRG-06' &&
            ['1', 'Active'].includes(String(at(enrolment, 'enrolment_status')[0])),
        ),
    },
  ],
  [
    'ibr',
    'predicate: a programme, and a status of any',
    {
      ask: predicate(
        element(comparison('programme_identifier', 'eq', 'PRG-06')),
        element(comparison('enrolment_status', 'eq', '1')),
      ),
      says: (beneficiary) =>
        says(beneficiary, ['member.programme_identifier.programme.programme_identifier'], 'prg-06') &&
        says(beneficiary, ['member.programme_identifier.enrolment_status'], '1', 'active'),
    },
  ],
  [
    'ibr',
    'expression: young women of no known disability',
    {
      ask: expression({ $and: [{ age: { $lte: 40 } }, { gender: 'female' }, { is_disabled: false }] }),
      says: (beneficiary) =>
        oldestAge(beneficiary, `${PERSON}.birth_date`) <= 40 &&
        isFemale(beneficiary, `${PERSON}.sex`) &&
        says(beneficiary, ['member.is_disabled'], '0'),
    },
  ],
  [
    'ibr',
    'graphql: an enrolment as a nested object',
    {
      ask: graphql('{ beneficiary(enrolment: {programme_identifier: "PRG-05", enrolment_date: {ge: "2020"}}) { UIN } }'),
      says: (beneficiary) =>
        at(beneficiary, 'member.programme_identifier').some(
          (enrolment) =>
            at(enrolment, 'programme.programme_identifier')[0] === 'PRG-05' &&
            String(at(enrolment, 'enrolment_date')[0]) >= '2020',
        ),
    },
  ],
  [
    'ess',
    'predicate: unemployed men',
    {
      ask: predicate(element(comparison('employment_status', 'eq', 'unemployed'), 'not', comparison('sex', 'eq', 'F'))),
      says: (member) => says(member, ['employment_status'], '2', 'unemployed') && isMale(member, 'demographic_info.sex'),
    },
  ],
  [
    'ess',
    'expression: the unemployed',
    {
      ask: expression({ employment_status: { $eq: 'unemployed' } }),
      says: (member) => says(member, ['employment_status'], '2', 'unemployed'),
    },
  ],
  [
    'ess',
    'graphql: the enrolled with a permanent job',
    {
      ask: graphql('{ member(enrolment_status: "Active", employment_type: "permanent") { UIN } }'),
      says: (member) =>
        says(member, ['additional_attributes.enrolment_status'], '1', 'active') &&
        says(member, ['employment_info.employment_type'], '1'),
    },
  ],
  [
    'social',
    'predicate: young members of poor households',
    {
      ask: {
        ...predicate(element(comparison('age', 'lt', '25'), 'and', comparison('poverty_score', 'lt', '2.5'))),
        response_entity: 'Member',
      },
      says: (member) => isMember(member) && oldestAge(member, 'demographic_info.birth_date') < 25 && score(member) < 2.5,
    },
  ],
  [
    'social',
    'expression: members by marital status',
    {
      ask: expression({ marital_status: { $in: ['Widow', 'D'] }, is_disabled: { $ne: true } }, 'Member'),
      says: (member) =>
        isMember(member) &&
        says(member, ['marital_status'], 'w', 'widow', 'd', 'divorced') &&
        says(member, ['is_disabled'], 'false'),
    },
  ],
  [
    'social',
    'graphql: members of a place',
    {
      ask: graphql('{ member(location: {in: ["farrow", "gessa"]}, sex: "male") { UIN } }'),
      says: (member) =>
        isMember(member) &&
        isMale(member, 'demographic_info.sex') &&
        says(member, ['demographic_info.address.city'], 'farrow', 'gessa'),
    },
  ],
  [
    'social',
    'predicate: groups of a region',
    {
      ask: {
        ...predicate(element(comparison('poverty_score', 'lt', 5), 'and', comparison('region', 'eq', 'XA-09'))),
        response_entity: 'Group',
      },
      says: (group) => isGroup(group) && score(group) < 5 && says(group, ['additional_attributes.region'], 'xa-09'),
    },
  ],
  [
    'social',
    'expression: poverty_score < 4 and group_size = 3',
    {
      ask: expression({ $and: [{ poverty_score: { $lt: 4 } }, { group_size: { $eq: 3 } }] }, 'Group'),
      says: (group) => isGroup(group) && score(group) < 4 && at(group, 'group_size')[0] === 3,
    },
  ],
  [
    'social',
    'graphql: large groups',
    {
      ask: graphql('{ group(household_size: {ge: 6}) { HOUSEHOLD_ID } }'),
      says: (group) => isGroup(group) && Number(at(group, 'group_size')[0]) >= 6,
    },
  ],
  [
    'disability',
    'predicate: a type and its level',
    {
      ask: predicate(element(comparison('impairment_type', 'eq', 'vision'), 'and', comparison('impairment_level', 'eq', '3'))),
      says: (person) =>
        at(person, 'disability_details').some(
          (detail) => at(detail, 'impairment_type')[0] === '1' && at(detail, 'impairment_level')[0] === '3',
        ),
    },
  ],
  [
    'disability',
    'expression: approved and severe',
    {
      ask: expression({ disability_status: 'Approved', disability_level: { $in: ['Severe', 'High support needs'] } }),
      says: (person) =>
        says(person, ['disability_status'], 'approved', '0') &&
        says(person, ['disability_level'], 'severe', '2', 'high support needs', '1'),
    },
  ],
  [
    'disability',
    'graphql: by programme',
    {
      ask: graphql('{ disabledPerson(programme_name: {contains: "GRANT"}) { UIN } }'),
      says: (person) => at(person, 'programs_enrollments.programme_name').some((name) => /grant/i.test(`${name}`)),
    },
  ],
  [
    'farmer',
    'predicate: a crop and its irrigation',
    {
      ask: predicate(element(comparison('crop_type', 'eq', 'Cereals'), 'and', comparison('irrigation_type', 'eq', 'canal'))),
      says: (farmer) =>
        at(farmer, 'land_details.farming_activities.crop_details').some(
          (crop) => at(crop, 'crop_type')[0] === '1' && at(crop, 'irrigation_type')[0] === 'canal',
        ),
    },
  ],
  [
    'farmer',
    'expression: a parcel of 10 to 20',
    {
      ask: expression({ farm_size: { $gt: 10, $lt: '20' } }),
      says: (farmer) => at(farmer, 'land_details.land_size').some((size) => Number(size) > 10 && Number(size) < 20),
    },
  ],
  [
    'farmer',
    'graphql: women who grow sugar',
    {
      ask: graphql('{ farmer(gender: "female", crop_type: "sugar") { UIN } }'),
      says: (farmer) =>
        isFemale(farmer, 'farmer_personal_details.demographic_info.gender') &&
        says(farmer, ['land_details.farming_activities.crop_details.crop_type'], '8'),
    },
  ],
]
