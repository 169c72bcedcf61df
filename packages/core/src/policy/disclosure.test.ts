import { readFileSync } from 'node:fs'
import { CanonicalText, canonicalJson, type JsonObject, type JsonValue, KINDS, type Kind, kindNamed } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { registrySources } from '../../../../test/registry-side.ts'
import type { NewDelivery } from '../model/delivery.ts'
import type { GrantTerms } from '../model/grant.ts'
import { type AuditedOutcome, Disclosed, type ReplyMembers } from '../model/outcome.ts'
import { areRecordsStillShown, discloseRecordParts, discloseRecords, discloseStoredRecords } from './disclosure.ts'
import { readTerms } from './grant.ts'

/** Reads a source file without its docstrings. */
const text = (file: string) => readFileSync(file, 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '')
const withText = (pattern: RegExp) => registrySources.filter((file) => pattern.test(text(file)))

const [civil] = KINDS as readonly [Kind, ...Kind[]]
const [recordType] = civil.record_types
const documents = ['{"a":1}', '{"b":2}']
const granted = (terms: Partial<GrantTerms>) => readTerms(civil, { operations: 'all', see: 'all', basis: 'law', ...terms })
const everything = granted({})
const texts = (...given: Parameters<typeof discloseRecords>) => [...discloseRecords(...given)].map(({ text }) => text)

describe('what leaves', () => {
  it('is all of it, as it is stored, where everything may be seen', () => {
    const records = [...discloseRecords(everything, recordType, documents)]
    expect(records.map((record) => record.text)).toEqual(documents)
    expect(records.every((record) => record instanceof Disclosed)).toBe(true)
  })

  it('is cut to what a query chose, and made one record after the other', () => {
    const seen: string[] = []
    const select = (record: JsonValue) => {
      seen.push(canonicalJson(record))
      return canonicalJson(record).includes('a') ? null : {}
    }
    const [first] = discloseRecords(everything, recordType, [...documents, '{"c":3}'], select)
    expect(first?.text).toBe('{}')
    expect(seen).toEqual(documents)
  })

  it('is, of a question about a part, each part as a record', () => {
    const parts = [
      ...discloseRecordParts(everything, recordType, '{"a":[1,2]}', (record) => [Object.values(record as object)].flat(2)),
    ]
    expect(parts.map((part) => part.text)).toEqual(['1', '2'])
  })

  it('is what the grant shows, and then what the query chose of that', () => {
    const record = '{"birth_date":"1990-01-02","name":{"surname":"Obi"},"sex":"F"}'
    const select = (record: JsonValue) => ({ SEX: (record as JsonObject).sex ?? 'none' })
    expect(texts(granted({ see: ['sex'] }), recordType, [record, '{"name":{"surname":"Obi"}}'], select)).toEqual([
      '{"SEX":"F"}',
      '{"SEX":"none"}',
    ])
  })

  it('is no record that the conditions of the grant leave out', () => {
    const rows = { Person: { sex: { $eq: 'female' } } }
    const [woman, man, nobody] = ['{"sex":"F"}', '{"sex":"M"}', '{"name":{"surname":"Obi"}}']
    expect(texts(granted({ rows }), recordType, [woman, man, nobody])).toEqual([woman])
  })

  it('is nothing of a record type that is not granted', () => {
    const { record_types } = kindNamed('social') ?? civil
    const [first, second] = record_types
    if (second === undefined) throw new Error('the kind has one record type')
    const grant = readTerms(kindNamed('social') ?? civil, {
      operations: 'all',
      see: 'all',
      basis: 'law',
      record_types: [first.name],
    })
    expect(texts(grant, first, documents)).toEqual(documents)
    expect(texts(grant, second, documents)).toEqual([])
  })

  it('is, of a stored answer, what the grant shows today, and nothing where conditions cannot be asked', () => {
    const again = (terms: Partial<GrantTerms>) =>
      discloseStoredRecords(granted(terms), recordType, [{ sex: 'F', birth_date: '1990-05-05' }]).shown.map(({ text }) => text)
    expect(again({ see: ['sex'] })).toEqual(['{"sex":"F"}'])
    expect(again({ rows: { Person: { sex: { eq: 'F' } } } })).toEqual([])
  })

  it('is checked again in a stored message, also where one record stands without a list', () => {
    const grant = { ...granted({ see: ['sex'] }), id: 1 }
    const stored = (reg_records: JsonValue) => ({ search_response: [{ data: { reg_record_type: 'Person', reg_records } }] })
    const [shown, more] = [{ sex: 'F' }, { sex: 'F', birth_date: '1990-05-05' }]
    expect([[shown], shown, [], null].map((records) => areRecordsStillShown(grant, stored(records)))).toEqual(Array(4).fill(true))
    expect([[shown, more], more, 'F'].map((records) => areRecordsStillShown(grant, stored(records)))).toEqual(
      Array(3).fill(false),
    )
  })

  it('leaves through this function alone: whoever writes records into a message calls it', () => {
    const writers = withText(/\breg_records:/)
    expect(writers).toEqual([
      'packages/delivery/src/notify/compose.ts',
      'packages/engine/src/operations/disability.ts',
      'packages/engine/src/operations/redisclose-item.ts',
      'packages/engine/src/operations/search.ts',
    ])
    for (const file of writers) {
      const written = text(file).match(/\breg_records:.*/g) ?? []
      expect(written).toHaveLength(1)
      expect(text(file)).toMatch(/\bdisclose(?:Records|RecordParts|StoredRecords)\(/)
    }
    expect(withText(/extends Disclosed\b/)).toEqual(['packages/core/src/policy/disclosure.ts'])
  })

  it('leaves as a type of its own: a reply takes no other text', () => {
    const [disclosed] = discloseRecords(everything, recordType, documents)
    const members: ReplyMembers = { data: { reg_records: disclosed === undefined ? [] : [disclosed] } }
    // @ts-expect-error a document is not disclosed
    const raw: ReplyMembers = { reg_records: documents }
    // @ts-expect-error nor is a text that will be sent as it is
    const texts: ReplyMembers = { search_response: [{ data: { reg_records: [new CanonicalText('{}')] } }] }
    // @ts-expect-error under whichever name
    const renamed: AuditedOutcome['members'] = { records: [new CanonicalText('{}')] }
    // @ts-expect-error nothing is made disclosed by hand
    const made = () => new Disclosed('{}')
    expect([members, raw, texts, renamed, made]).toHaveLength(5)
  })

  it('is what a delivery holds: its body is a reply, encrypted at rest in one place', () => {
    // @ts-expect-error other bytes are no reply
    const body: NewDelivery['body'] = Buffer.alloc(1)
    expect(body).toHaveLength(1)
    const makers = withText(/as StoredEnvelope\b/)
    expect(makers).toHaveLength(1)
    // Made of the same members as a reply that is sent at once.
    for (const file of makers) expect(text(file)).toMatch(/\bmembers: ReplyMembers\b[\s\S]*as StoredEnvelope\b/)
  })
})
