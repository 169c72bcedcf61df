/** Two servers whose registries differ only in what a participant may not see: it must not be able to tell them apart. */

import { protectPerson } from '@rollcall/admin/persons/protected-persons'
import type { GrantTerms } from '@rollcall/core/model/grant'
import type { Registry } from '@rollcall/core/model/registry'
import type { JsonObject, JsonValue } from '@rollcall/protocol'
import fc from 'fast-check'
import { afterAll } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { testClock } from '../../observe/test/clock.ts'
import { grant } from '../../participants/test/grants.ts'
import { postSearch, type TestParticipant, type TestServer, testServer, writeDocuments } from './server.ts'

/** Somebody in both registries of a world. */
export interface Somebody {
  readonly uin: string
  readonly surname: string
  readonly sex: 'female' | 'male'
  readonly birth_date: string | null
  readonly locality: string
  readonly marital_status: string
  readonly is_disabled: boolean
  readonly isProtected: boolean
  /** The number of the parent among the people of the world, and below that of the spouse. */
  readonly parent: number
  readonly spouse: number
}

export interface World {
  readonly people: readonly Somebody[]
  /** Each household's members, the head first. */
  readonly households: readonly (readonly number[])[]
  /** True when people are protected before their records come; false: after. */
  readonly before: boolean
  /** True when the grant finds only women in the civil registry. */
  readonly women: boolean
  readonly terms: Partial<GrantTerms>
}

const SURNAMES = ['Obi', 'Ada', 'Eze']
const PLACES = ['Lagos', 'Kano']
const STATUSES = ['M', 'S']

const somebody = (at: number): fc.Arbitrary<Somebody> =>
  fc.record({
    uin: fc.constant(`U-100${at}`),
    surname: fc.constantFrom(...SURNAMES),
    sex: fc.constantFrom('female', 'male'),
    birth_date: fc.option(fc.constantFrom('1970-01-01', '1990-05-05', '2020-02-29'), { freq: 6 }),
    locality: fc.constantFrom(...PLACES),
    marital_status: fc.constantFrom(...STATUSES),
    is_disabled: fc.boolean(),
    isProtected: fc.boolean(),
    parent: fc.nat(COUNT - 1),
    spouse: fc.nat(COUNT - 1),
  })

const COUNT = 6
const ATTRIBUTES = ['surname', 'sex', 'birth_date', 'location', 'marital_status', 'is_disabled']

export const anyWorld: fc.Arbitrary<World> = fc.record({
  people: fc.tuple(...Array.from({ length: COUNT }, (_, at) => somebody(at))),
  households: fc.array(fc.uniqueArray(fc.nat(COUNT - 1), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
  before: fc.boolean(),
  women: fc.boolean(),
  terms: fc.record(
    {
      ask: fc.oneof(fc.constant('all' as const), fc.subarray(ATTRIBUTES)),
      see: fc.oneof(
        fc.constant('all' as const),
        fc.subarray([...ATTRIBUTES, 'identifier', 'parents', 'member_list', 'group_head_info', 'related_person', 'group_size']),
      ),
      minors: fc.constantFrom('allowed', 'never'),
      counts: fc.constantFrom('exact', 'capped', 'rounded', 'none'),
      protected: fc.constantFrom(['sealed'], ['adoption', 'witness_protection']),
      identifier_types: fc.constantFrom('all', ['UIN', 'HOUSEHOLD_ID']),
    },
    { requiredKeys: ['ask', 'see'] },
  ) as fc.Arbitrary<Partial<GrantTerms>>,
})

const uin = (value: string) => ({ identifier_type: 'UIN', identifier_value: value })
const nid = (value: string) => ({ identifier_type: 'NID', identifier_value: `N-${value}` })

/** Returns the object without members that are undefined. */
const defined = (object: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(object).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

/** Replaces a value that the participant may neither ask about nor see. */
type Veil = (attribute: string, value: string, others: readonly string[]) => string

const civilDocument = (world: World, one: Somebody, isNamed: (at: number) => boolean, veil: Veil): JsonObject => {
  const named = (at: number) => (isNamed(at) ? world.people[at]?.uin : undefined)
  const [parent, spouse] = [named(one.parent), named(one.spouse)]
  return defined({
    '@type': 'CRVS_Person',
    identifier: [uin(one.uin), nid(one.uin)],
    name: { surname: one.surname },
    sex: one.sex,
    birth_date: one.birth_date ?? undefined,
    address: { locality: veil('location', one.locality, PLACES) },
    marital_status: veil('marital_status', one.marital_status, STATUSES),
    parent1_identifier: parent === undefined ? undefined : nid(parent),
    spouse_identifier: spouse === undefined ? undefined : uin(spouse),
    guardian: spouse === undefined ? undefined : { identifier: [nid(spouse)], name: { surname: 'Guard' } },
  })
}

const memberDocument = (world: World, one: Somebody, isThere: (at: number) => boolean): JsonObject => {
  const spouse = isThere(one.spouse) ? world.people[one.spouse]?.uin : undefined
  return defined({
    '@type': 'Member',
    member_identifier: [uin(one.uin)],
    demographic_info: defined({ name: { surname: one.surname }, sex: one.sex, birth_date: one.birth_date ?? undefined }),
    is_disabled: one.is_disabled,
    related_person:
      spouse === undefined ? undefined : [{ relationship_type: 'spouse', related_member: { member_identifier: [uin(spouse)] } }],
  })
}

function groupDocument(world: World, at: number, isThere: (at: number) => boolean, isNamed: (at: number) => boolean): JsonObject {
  const members = (world.households[at] ?? []).filter(isThere).flatMap((one) => world.people[one] ?? [])
  const [head] = world.households[at] ?? []
  const shown = members.map((one) => memberDocument(world, one, isNamed))
  const first = head !== undefined && isThere(head) ? shown[0] : undefined
  return defined({
    '@type': 'Group',
    group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: `H-${at}` }],
    group_size: members.length,
    group_head_info: first,
    member_list: shown.length === 0 ? undefined : shown,
  })
}

/** The documents of a world: all that there is, or only what its participant may see. */
export function documentsOf(world: World, all: boolean): { readonly civil: JsonObject[]; readonly social: JsonObject[] } {
  const never = world.terms.minors === 'never'
  const isAdult = ({ birth_date }: Somebody): boolean => birth_date !== null && birth_date < '2000'
  const isSeen = (one: Somebody): boolean => !one.isProtected && (!never || isAdult(one))
  const isThere = (at: number): boolean => {
    const one = world.people[at]
    return one !== undefined && (all || isSeen(one))
  }
  const { ask, see } = world.terms
  const veil: Veil = (attribute, value, others) => {
    const isKnown = [ask, see].some((names) => names === 'all' || names?.includes(attribute) === true)
    return all || isKnown ? value : (others.find((other) => other !== value) ?? value)
  }
  // A person who is named only by an identifier has no age there, so nobody knows whether it is a minor.
  const isNamed = (at: number): boolean => all || world.people[at]?.isProtected === false
  const people = world.people.filter((one) => all || isSeen(one))
  return {
    civil: people
      .filter(({ sex }) => all || !world.women || sex === 'female')
      .map((one) => civilDocument(world, one, isNamed, veil)),
    social: [
      ...people.map((one) => memberDocument(world, one, isNamed)),
      ...world.households.map((_, at) => groupDocument(world, at, isThere, isNamed)),
    ],
  }
}

interface WorldServer {
  readonly server: TestServer
  readonly peer: TestParticipant
  readonly registries: { readonly civil: Registry; readonly social: Registry }
  /** Whether the registries have everything; false: only what the participant may see. */
  readonly all: boolean
}

/** Starts the two servers for the tests of one file, to be awaited at its top level; they are closed after them. */
export async function twoWorlds(): Promise<readonly [WorldServer, WorldServer]> {
  const begin = async (all: boolean): Promise<WorldServer> => {
    const server = await testServer({}, testClock())
    afterAll(() => server.close())
    const registries = { civil: await server.registry('civil'), social: await server.registry('social') }
    return { server, all, registries, peer: await server.participant('asking.example') }
  }
  return [await begin(true), await begin(false)]
}

/** Puts a world in the place of the one before. */
export async function become({ server, all, registries, peer }: WorldServer, world: World): Promise<void> {
  const { db } = server.database
  for (const table of ['r1_person', 'r2_member', 'r2_group', 'protected_person']) {
    await db.pool.query(`delete from ${table}`)
  }
  await db.pool.query(`update registry set protection_version = nextval('protection_version')`)
  const documents = documentsOf(world, all)
  const protect = async (): Promise<void> => {
    for (const namespace of all ? ['civil', 'social'] : []) {
      for (const { uin: identifier_value } of world.people.filter((one) => one.isProtected)) {
        const named = { namespace, identifier_type: 'UIN', identifier_value }
        await protectPerson(acting({ db }), { ...named, category: 'shelter', reason: 'x' })
      }
    }
  }
  if (world.before) await protect()
  await writeDocuments(server.database, registries.civil, documents.civil)
  await writeDocuments(server.database, registries.social, documents.social)
  if (!world.before) await protect()
  for (const namespace of ['civil', 'social']) {
    const rows = { Person: { sex: { eq: 'female' } } }
    await grant(server.database, peer.sender_id, namespace, {
      ...termsIn(namespace, world.terms),
      ...(world.women && namespace === 'civil' && { rows }),
    })
  }
  server.clock.pass(1_000)
}

/** The terms without the names that a registry does not have. */
function termsIn(namespace: string, terms: Partial<GrantTerms>): Partial<GrantTerms> {
  const others = namespace === 'civil' ? IN_SOCIAL : IN_CIVIL
  const named = Object.entries(terms).map(([member, names]) => {
    const isList = ['ask', 'see', 'identifier_types'].includes(member) && Array.isArray(names)
    return [member, isList ? names.filter((name: string) => !others.includes(name)) : names]
  })
  return Object.fromEntries(named)
}

const IN_SOCIAL = [...['is_disabled', 'member_list', 'group_head_info', 'related_person', 'group_size'], 'HOUSEHOLD_ID']
const IN_CIVIL = ['parents']

const UINS = ['U-1000', 'U-1001', 'U-1002', 'U-1003', 'U-9999']
const condition = fc.oneof(
  fc.constantFrom(...SURNAMES).map((value) => ({ surname: { $eq: value } })),
  fc.constantFrom('female', 'male').map((value) => ({ sex: { $eq: value } })),
  fc.constantFrom('1980-01-01', '2010-01-01').map((value) => ({ birth_date: { $lt: value } })),
  fc.constantFrom(...PLACES).map((value) => ({ location: { $eq: value } })),
  fc.constantFrom(...STATUSES).map((value) => ({ marital_status: { $eq: value } })),
  fc.constantFrom(10, 30, 50).map((value) => ({ age: { $gt: value } })),
  fc.constantFrom(...UINS).map((value) => ({ UIN: { $eq: value } })),
  fc.constant({ birth_date: { $exists: true } }),
)
const groupCondition = fc.oneof(
  fc.nat(4).map((value) => ({ group_size: { $eq: value } })),
  fc.nat(4).map((value) => ({ group_size: { $gt: value } })),
  fc.boolean().map((value) => ({ 'household_member.is_disabled': { $eq: value } })),
  fc.constantFrom('female', 'male').map((value) => ({ 'household_member.sex': { $eq: value } })),
  fc.constantFrom(...UINS).map((value) => ({ UIN: { $eq: value } })),
  fc.nat(2).map((value) => ({ HOUSEHOLD_ID: { $eq: `H-${value}` } })),
)
const combined = (one: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc.oneof(
    one,
    one.map((query) => ({ $not: query })),
    fc.tuple(one, one).map(([first, second]) => ({ $or: [first, second] })),
    fc.tuple(one, one).map(([first, second]) => ({ $and: [first, { $not: second }] })),
  )
const more = (sorts: readonly string[], record: object): fc.Arbitrary<object> =>
  fc
    .record(
      {
        sort: fc.constantFrom(...sorts).map((attribute_name) => [{ attribute_name, sort_order: 'desc' }]),
        pagination: fc.record({ page_size: fc.integer({ min: 1, max: 3 }), page_number: fc.integer({ min: 1, max: 3 }) }),
      },
      { requiredKeys: [] },
    )
    .map((members) => ({ ...members, ...record }))
const byType = fc
  .tuple(fc.constantFrom('UIN', 'NID'), fc.constantFrom(...UINS))
  .map(([type, value]) => ({ query_type: 'idtype-value', query: { type, value: type === 'NID' ? `N-${value}` : value } }))
const graphql = fc
  .constantFrom(...UINS)
  .map((value) => `{ person(UIN: "${value}") { surname sex birth_date } }`)
  .map((value) => ({ query_type: 'graphql', query: { type: 'graphql', value } }))
const expressions = (one: fc.Arbitrary<object>, sorts: readonly string[], record: object = {}) =>
  fc.tuple(combined(one), more(sorts, record)).map(([query, members]) => ({ query_type: 'expression', query, ...members }))
const GROUP = { reg_record_type: 'Group' }

/** Questions to each registry. */
export const anyQuestions = fc.record({
  civil: fc.array(fc.oneof(byType, graphql, expressions(condition, ['surname', 'birth_date', 'age'])), {
    minLength: 8,
    maxLength: 12,
  }),
  social: fc.array(
    fc.oneof(
      byType,
      byType.map((one) => ({ ...one, ...GROUP })),
      expressions(condition, ['surname', 'birth_date']),
      expressions(groupCondition, ['group_size', 'poverty_score'], GROUP),
    ),
    { minLength: 10, maxLength: 16 },
  ),
})

/** The answers to all searches, without ids and times. */
export async function answersOf(
  { server, peer }: WorldServer,
  questions: { readonly civil: readonly object[]; readonly social: readonly object[] },
): Promise<readonly unknown[]> {
  const answers: unknown[] = []
  for (const namespace of ['civil', 'social'] as const) {
    const items = questions[namespace].map((search_criteria) => ({ search_criteria }))
    const { status, body } = await postSearch(server, peer, items, namespace)
    const { header, message } = body
    const { status: said, status_reason_code, total_count, completed_count } = header
    answers.push({ status, said, status_reason_code, total_count, completed_count })
    for (const { timestamp: _, ...item } of message.search_response) answers.push(item)
  }
  return answers
}
