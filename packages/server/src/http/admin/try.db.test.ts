import { canonicalJson } from '@rollcall/protocol'
import { afterAll, expect, it } from 'vitest'
import { storedEntries } from '../../../../settings/test/audit-log.ts'
import { adminCaller } from '../../../test/admin-api.ts'
import { ADA } from '../../../test/civil.ts'
import { sealingPeer } from '../../../test/sealing.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
afterAll(() => server.close())
await server.registry('civil', [ADA])
await server.registry('civil', [ADA], 'civil-test', 'sandbox')
await server.participant('new.example', { environment: 'sandbox' })
const { tokens, post, refusal } = await adminCaller(server)

const LIVE = '/registries/civil/try'
const SANDBOX = '/registries/civil-test/try'
const ADA_BY_UIN = { identifier: { type: 'UIN', value: '0012' } }

it('a search is built as a message, as commands, and as a program', async () => {
  await server.participant('sp.example')
  const { status, body } = await post(LIVE, { sender_id: 'sp.example', ...ADA_BY_UIN, page_size: 5 }, tokens.operate)
  expect([status, body.path, body.can_send, body.reply]).toEqual([...[200, '/civil/v1.0.0/registry/sync/search', false, null]])
  expect(body.envelope).toMatchObject({
    header: { action: 'search', sender_id: 'sp.example', receiver_id: 'civil.example' },
    message: {
      search_request: [
        {
          search_criteria: {
            reg_record_type: 'Person',
            query_type: 'idtype-value',
            query: { type: 'UIN', value: '0012' },
            pagination: { page_size: 5, page_number: 1 },
          },
        },
      ],
    },
  })
  expect(body.body).toBe(canonicalJson(body.envelope))
  expect(body.curl).toContain(`<<'END'\n${body.body}\nEND`)
  expect(body.curl).toContain('"$REGISTRY/oauth2/client/token"')
  expect(body.curl).toContain('"$REGISTRY/civil/v1.0.0/registry/sync/search"')
  expect(body.typescript).toContain('...identifier("UIN", "0012"), reg_record_type: "Person"')
  expect(body.signature).toEqual({ required: false, kid: null, algorithm: null, layout: 'parameters', bytes: null })
})

it('the bytes that are signed are shown with the key of the participant, which is not here', async () => {
  await sealingPeer(server, 'signs.example')
  const { body } = await post(LIVE, { sender_id: 'signs.example', ...ADA_BY_UIN })
  expect([body.can_send, body.send_problem]).toEqual([false, 'the registry civil is live: a search is only built there'])
  expect(body.signature).toMatchObject({ required: true, kid: 'sig-1', algorithm: 'EdDSA' })
  expect(body.signature.bytes).toContain('digest: ')
})

it.each([
  [{ expression: { birth_date: { $lt: '2020-01-01' } } }],
  [{ predicate: [{ expression1: { attribute_name: 'sex', operator: 'eq', attribute_value: 'female' } }] }],
  [{ graphql: 'query { person(UIN: "0012") { birth_date } }' }],
  [ADA_BY_UIN],
])('%j is answered in a sandbox', async (form) => {
  const { status, body } = await post(SANDBOX, { sender_id: 'new.example', ...form, send: true }, tokens.operate)
  expect([status, body.can_send, body.send_problem, body.reply.status]).toEqual([200, true, null, 200])
  const answer = JSON.parse(body.reply.body)
  expect(answer.message.search_response).toMatchObject([{ status: 'succ' }])
  expect(body.reply.body).toContain('2014-06-01')
})

it('a search that is answered later is acknowledged', async () => {
  const asked = { sender_id: 'new.example', ...ADA_BY_UIN, later: true }
  const { body } = await post(SANDBOX, asked, tokens.operate)
  expect(body.path).toBe('/civil-test/v1.0.0/registry/search')
  expect(body.curl).toContain('"$REGISTRY/civil-test/v1.0.0/registry/search"')
  expect(body.typescript).toContain('await registry.searchAsync({')
  const sent = await post(SANDBOX, { ...asked, send: true }, tokens.operate)
  expect(sent.body.reply.status).toBe(200)
  expect(JSON.parse(sent.body.reply.body).message).toMatchObject({ ack_status: 'ACK' })
})

it('the operator who sends has an audit entry, and without what was asked', async () => {
  const written = (await storedEntries(server.database.db)).filter(({ entry }) => entry.note === 'try')
  expect(written.map(({ entry }) => [entry.kind, entry.operator, entry.registry])).toEqual(
    written.map(() => ['operator', 'test-operate', 'civil-test']),
  )
  expect(written).toHaveLength(5)
  expect(JSON.stringify(written)).not.toContain('"0012"')
})

it('nothing is sent in a live registry, in the name of a live participant, or unsigned for one that signs', async () => {
  const given = { ...ADA_BY_UIN, send: true }
  expect(await refusal(LIVE, { ...given, sender_id: 'new.example' })).toBe(
    '409 err.request.bad send: the registry civil is live: a search is only built there',
  )
  expect(await refusal(SANDBOX, { ...given, sender_id: 'sp.example' })).toBe(
    '409 err.request.bad send: sp.example is live: nothing is sent in its name',
  )
  await sealingPeer(server, 'sealed.example', { settings: { environment: 'sandbox' } })
  expect(await refusal(SANDBOX, { ...given, sender_id: 'sealed.example' })).toBe(
    '409 err.request.bad send: the messages of sealed.example must be signed, and nobody but itself has its key: a search is only built',
  )
})

it.each([
  [{ ...ADA_BY_UIN }, '400 err.request.bad sender_id: is required'],
  [
    { sender_id: 'sp.example' },
    '400 err.request.bad give one of identifier, expression, predicate, graphql, and no other of them',
  ],
  [
    { sender_id: 'sp.example', ...ADA_BY_UIN, graphql: 'x' },
    '400 err.request.bad give one of identifier, expression, predicate, graphql, and no other of them',
  ],
  [{ sender_id: 'nobody.example', ...ADA_BY_UIN }, '404 err.request.not_found no participant has sender_id nobody.example'],
  [{ sender_id: 'sp.example', identifier: { type: 'UIN' } }, '400 err.request.bad identifier.value: is required'],
])('%j is refused', async (body, message) => {
  expect(await refusal(LIVE, body)).toBe(message)
})

it('a text that ends a line of a shell or of a program stays a text', async () => {
  const nasty = 'x\'; rm -rf ~ #\n`$(id)`\u2028"</script>'
  const { body } = await post(LIVE, { sender_id: 'sp.example', identifier: { type: 'UIN', value: nasty } })
  const lines: string[] = body.curl.split('\n')
  expect(lines.filter((line) => line === body.body)).toHaveLength(1)
  expect(lines.at(-1)).toBe('END')
  expect(body.typescript.split('\n').filter((line: string) => line.includes('rm -rf'))).toHaveLength(1)
  expect(body.typescript).not.toContain('\u2028')
})
