/** The types of records in answers. `tsc` checks these tests; what they call is not sent anywhere. */
import type { Group, Member, Person } from '@rollcall/protocol'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { identifier } from '../queries.ts'
import type { KindName, RecordOf, RegistryRecord } from './records.ts'
import { RegistryClient } from './registry-client.ts'
import { itemsOrThrow, resultsOf } from './results.ts'

const OPTIONS = { base_url: 'https://registry.example/civil/v1.0.0', sender_id: 'sp.example' }
const civil = new RegistryClient({ ...OPTIONS, kind: 'civil' })
const social = new RegistryClient({ ...OPTIONS, kind: 'social' })
const unsaid = new RegistryClient(OPTIONS)
const ADA = identifier('UIN', '0012')

/** The type with which a call resolves. */
type Answered<Call extends (...given: never[]) => Promise<unknown>> = Awaited<ReturnType<Call>>

describe('a client with a kind', () => {
  it('has records of the types of that kind, down to their leaves', () => {
    const one = () => civil.searchOne(ADA)
    expectTypeOf<Answered<typeof one>>().toEqualTypeOf<Person | null>()
    const given = (person: Answered<typeof one>) => person?.name?.given_name
    expectTypeOf(given).returns.toEqualTypeOf<string | undefined>()
    // @ts-expect-error a person has no such member
    void ((person: Answered<typeof one>) => person?.brith_date)
  })

  it('has them in whole answers, of which the items are read', () => {
    const all = async () => {
      const answer = await civil.search(ADA)
      const [result] = resultsOf(answer)
      const results = result?.ok === true ? result.item.data?.reg_records : undefined
      return { items: itemsOrThrow(answer)[0]?.data?.reg_records, results }
    }
    type Records = Person[] | undefined
    expectTypeOf<Answered<typeof all>>().toEqualTypeOf<{ items: Records; results: Records }>()
  })

  it('has them page after page and in callbacks', () => {
    const pages = () => civil.searchAll(ADA)
    expectTypeOf<ReturnType<typeof pages>>().toEqualTypeOf<AsyncGenerator<Person, void, void>>()
    const callbacks = async () => {
      for await (const { message } of civil.searchByCallback(ADA)) {
        return message.search_response[0]?.data?.reg_records[0]
      }
      return undefined
    }
    expectTypeOf<Answered<typeof callbacks>>().toEqualTypeOf<Person | undefined>()
  })

  it('has one type where the criteria name it, and else any of the kind', () => {
    const group = () => social.searchOne({ ...identifier('HOUSEHOLD_ID', 'H-1'), reg_record_type: 'Group' })
    expectTypeOf<Answered<typeof group>>().toEqualTypeOf<Group | null>()
    const either = () => social.searchOne(ADA)
    expectTypeOf<Answered<typeof either>>().toEqualTypeOf<Group | Member | null>()
    const named = (reg_record_type: string) => social.searchOne({ ...ADA, reg_record_type })
    expectTypeOf<Answered<typeof named>>().toEqualTypeOf<Group | Member | null>()
  })

  it('has no member of type any, and records that fit where any record does', () => {
    expectTypeOf<Person['address']>().not.toBeAny()
    expectTypeOf<RecordOf<KindName>>().toExtend<RegistryRecord>()
  })

  it('must be of a kind that there is', () => {
    // @ts-expect-error no kind has this name
    expect(() => new RegistryClient({ ...OPTIONS, kind: 'church' })).toThrow(
      new TypeError('kind must be one of civil, ibr, ess, social, disability, farmer'),
    )
  })
})

it('without a kind, records are objects of which nothing is known', () => {
  const one = () => unsaid.searchOne(ADA)
  expectTypeOf<Answered<typeof one>>().toEqualTypeOf<RegistryRecord | null>()
})
