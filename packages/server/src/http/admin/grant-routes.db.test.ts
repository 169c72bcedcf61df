import { afterAll, expect, it } from 'vitest'
import { adminCaller } from '../../../test/admin-api.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
afterAll(() => server.close())
await server.registry('civil')
await server.registry('social')
const caller = await adminCaller(server)
const { tokens, get, post, refusal } = caller
await post('/participants', { sender_id: 'mis.example', name: 'MIS' })

const AT = '/registries/civil/grants/mis.example'
const TERMS = { operations: ['search'], record_types: ['Person'], see: ['given_name', 'birth_date'], basis: 'law' }

it('a grant is set from a template, explained, listed and revoked', async () => {
  const templates = await get('/registries/civil/grant-templates', tokens.read)
  const { terms } = templates.body.find(({ name }: { name: string }) => name === 'eligibility')
  expect(await refusal(AT, undefined, tokens.read)).toBe(
    '404 err.request.not_found mis.example has no grant in force in civil: it may do nothing there',
  )
  expect((await post(AT, { terms })).body).toMatchObject({ sender_id: 'mis.example', suspended: 0 })
  expect((await get(AT, tokens.read)).body).toMatchObject({ terms, sees_everything: false })
  const until = new Date(Date.now() + 5 * 86_400_000).toISOString()
  await post(AT, { terms: { ...TERMS, valid_until: until } })
  expect((await get('/grants?sender_id=mis.example')).body).toMatchObject([{ namespace: 'civil' }])
  expect((await get('/grants/expiring?days=30', tokens.read)).body).toMatchObject([{ valid_until: until }])
  expect((await post(`${AT}/revoke`, {}, tokens.operate)).body).toMatchObject({ revoked: 1 })
  expect(await refusal(`${AT}/revoke`, {})).toBe('404 err.request.not_found mis.example has no grant in civil')
})

it.each([
  [{ terms: { ...TERMS, see: ['shoe_size'] } }, /^400 err\.request\.bad terms\.see: .*shoe_size/],
  [{ terms: { ...TERMS, more: true } }, /^400 err\.request\.bad terms\.more: is not a known member$/],
  [{}, /^400 err\.request\.bad terms: is required$/],
])('terms that mean nothing are refused, with the member: %j', async (body, message) => {
  expect(await refusal(AT, body)).toMatch(message)
})

it('a preview shows a synthetic record before and after, and which paths are cut', async () => {
  const { status, body } = await post(`${AT}/preview`, { terms: TERMS }, tokens.read)
  expect(status).toBe(200)
  const [person] = body.records
  expect(person).toMatchObject({ record_type: 'Person', granted: true, found: true })
  expect(person.shown).toEqual(expect.arrayContaining(['birth_date', 'name.given_name']))
  expect(person.cut).toEqual(expect.arrayContaining(['identifier.identifier_value', 'name.surname']))
  expect(person.after.birth_date).toBe(person.before.birth_date)
  expect(Object.keys(person.after)).not.toContain('identifier')
})

it('a preview tries synthetic records until the conditions of the grant find one, and says where none is found', async () => {
  const previewed = async (person: object) => {
    const terms = { ...TERMS, rows: { Person: person } }
    const { body } = await post(`${AT}/preview`, { record_type: 'Person', terms }, tokens.read)
    return body.records
  }
  const [old] = await previewed({ birth_date: { lt: '1966-01-01' } })
  expect([old.found, old.before.birth_date < '1966-01-01']).toEqual([true, true])
  expect(await previewed({ birth_date: { lt: '1066-01-01' } })).toMatchObject([
    { granted: true, found: false, after: null, shown: [] },
  ])
})

it('a preview of the grant in force needs one', async () => {
  expect(await refusal(`${AT}/preview`, {}, tokens.read)).toBe(
    '404 err.request.not_found mis.example has no grant in force in civil: it may do nothing there',
  )
})

it('a token that is bound to a registry grants there, and nowhere else', async () => {
  const bound = await caller.token('of-civil', ['own'], ['civil'])
  expect((await post(AT, { terms: TERMS }, bound)).status).toBe(200)
  expect((await get('/grants?namespace=civil', bound)).body).toHaveLength(1)
  const elsewhere = '403 err.request.forbidden the token is bound to other registries'
  expect(await refusal('/registries/social/grants/mis.example', { terms: TERMS }, bound)).toBe(elsewhere)
  expect(await refusal('/grants', undefined, bound)).toBe(elsewhere)
  expect(await refusal(`${AT}/proposal?days=30`, undefined, bound)).toBe(
    '400 err.request.bad mis.example has used nothing in civil in 30 days of the audit log: rollcall grant revoke ends the grant',
  )
})
