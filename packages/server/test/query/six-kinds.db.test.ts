/** Every form in every kind, over HTTP, beside the same question put to the documents by hand. */
import { generate } from '@rollcall/synthetic'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postSearch, type TestParticipant, type TestServer, testServer } from '../server.ts'
import { at } from './by-hand.ts'
import { comparison, type Document, element, expression, graphql, predicate, QUESTIONS } from './questions.ts'

const COUNT = 400
const KINDS = ['civil', 'ibr', 'ess', 'social', 'disability', 'farmer']
const population = new Map(KINDS.map((kind) => [kind, [...generate(kind, { count: COUNT, seed: 'demo' })] as Document[]]))

let server: TestServer
let peer: TestParticipant

beforeAll(async () => {
  server = await testServer({ limits: { page_size: 1000 } })
  peer = await server.participant('spmis.demo')
  for (const [kind, documents] of population) await server.registry(kind, documents)
})
afterAll(() => server.close())

async function ask(namespace: string, criteria: object, pagination: object = { page_size: 1000 }) {
  const answer = await postSearch(server, peer, [{ search_criteria: { ...criteria, pagination } }], namespace)
  expect(answer.status).toBe(200)
  return answer.body.message.search_response[0]
}

describe('the same as by hand', () => {
  it.each(QUESTIONS)('%s, %s', async (kind, _title, question) => {
    const documents = population.get(kind) ?? []
    const wanted = documents.filter(question.says)
    // A question that finds nothing or everything would prove little.
    expect(wanted.length).toBeGreaterThan(0)
    expect(wanted.length).toBeLessThan(documents.length * 0.7)
    const item = await ask(kind, question.ask)
    expect(item.status_reason_message).toBeUndefined()
    expect(item.pagination.total_count).toBe(wanted.length)
    const found: Record<string, unknown>[] = item.data.reg_records
    expect(found).toHaveLength(wanted.length)
    // The graphql questions select one identifier, with which the `@id` of the population ends.
    const isShaped = JSON.stringify(question.ask).includes('"graphql"')
    const named = found.map((record) => (isShaped ? `:${Object.values(record)[0]}` : record['@id']))
    const wantedIds = wanted.map((document) => document['@id'])
    expect(named.toSorted()).toEqual(wantedIds.map((id) => (isShaped ? id.slice(id.lastIndexOf(':')) : id)).toSorted())
  })

  it('every kind and record type is asked in all three forms', () => {
    const forms = (kind: string) => new Set(QUESTIONS.filter(([name]) => name === kind).map(([, title]) => title.split(':')[0]))
    for (const kind of KINDS) expect(forms(kind)).toEqual(new Set(['predicate', 'expression', 'graphql']))
  })
})

describe("the specification's own examples", () => {
  const [ada] = (population.get('civil') ?? []) as [Document]
  const numbers = (type: string) =>
    at(ada, 'identifier').find((one) => at(one, 'identifier_type')[0] === type) as { identifier_value: string }

  it('graphql: { BRN birth_date } of a person', async () => {
    const uin = numbers('UIN').identifier_value
    const item = await ask('civil', graphql(`query { person(UIN: "${uin}") { BRN birth_date } }`))
    expect(item.data.reg_records).toEqual([{ BRN: numbers('BRN').identifier_value, birth_date: at(ada, 'birth_date')[0] }])
  })

  it('the shape decides: a list that says it is an expression', async () => {
    const list = [element(comparison('age', 'lt', '30'), 'and', comparison('sex', 'eq', 'female'))]
    const one = await ask('civil', { query_type: 'expression', query: list })
    const other = await ask('civil', { query_type: 'predicate', query: list })
    expect(one.status).toBe('succ')
    expect(one.data).toEqual(other.data)
  })

  it('the shape decides: an identifier that says it is graphql', async () => {
    const query = { type: 'UIN', value: numbers('UIN').identifier_value }
    const item = await ask('civil', { query_type: 'graphql', query })
    expect(item.data.reg_records).toEqual([ada])
  })
})

describe('a batch', () => {
  it('answers the good items and rejects the bad ones', async () => {
    const bad = predicate(element(comparison('shoe_size', 'eq', '9')))
    const good = expression({ sex: 'female' })
    const items = [bad, good, graphql('{ person { '), predicate()]
    const answer = await postSearch(
      server,
      peer,
      items.map((search_criteria) => ({ search_criteria })),
    )
    const answered: { status: string; status_reason_code?: string }[] = answer.body.message.search_response
    expect(answered.map(({ status }) => status)).toEqual(['rjct', 'succ', 'rjct', 'rjct'])
    expect(answered.map(({ status_reason_code }) => status_reason_code)).toEqual([
      'rjct.search_criteria.invalid',
      undefined,
      'rjct.filter.invalid',
      'rjct.search_criteria.invalid',
    ])
    expect(answer.body.header).toMatchObject({ status: 'succ', total_count: 4, completed_count: 4 })
  })
})
