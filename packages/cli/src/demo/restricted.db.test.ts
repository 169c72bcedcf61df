/**
 * The participant `restricted` of the demo learns nothing but what it is granted: two databases that differ only in
 * what it may not see answer it alike, whatever it asks, over HTTP, with the same statements.
 */
import { randomUUID } from 'node:crypto'
import { applyConfiguration } from '@rollcall/admin/configuration/apply'
import { KINDS, kindNamed, OPERATIONS, type Operation } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { generate } from '@rollcall/synthetic'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { SPEC } from '../../../delivery/test/stranger/signing.ts'
import { testClock } from '../../../observe/test/clock.ts'
import { type Got, gotten, masked } from '../../../server/test/answers.ts'
import { receiver } from '../../../server/test/deliveries.ts'
import { exampleRequest } from '../../../server/test/example-requests.ts'
import { newSigner, type Peer, signedBody } from '../../../server/test/sealing.ts'
import { bearer, post, QUIET, type TestServer, testServer, writeDocuments } from '../../../server/test/server.ts'
import { noteStatements } from '../../../server/test/statements.ts'
import { readYaml } from '../yaml.ts'
import { DEMO_CONFIGURATION_PATH } from './directory.ts'

type Document = Readonly<Record<string, unknown>>

const civil = kindNamed('civil') ?? expect.fail('there is no kind civil')
const [recordType] = civil.record_types

/** Members that `restricted` may see, and identifiers: they are the same in both databases. */
const GRANTED = ['@type', '@context', 'identifier', 'name', 'birth_date', 'phone_number', 'email']
const PEOPLE = [...generate('civil', { count: 12, seed: 'restricted' })] as readonly Document[]
/** The same people; of each of them everything else is that of another person, or is missing, or is new. */
const OTHERS = PEOPLE.map((person, at): Document => {
  const another = PEOPLE[(at + 5) % PEOPLE.length] ?? {}
  const granted = Object.entries(person).filter(([name]) => GRANTED.includes(name))
  const others = Object.entries(another).filter(([name]) => !GRANTED.includes(name))
  const kept = others.filter((_, index) => (index + at) % 3 > 0)
  return { ...Object.fromEntries([...granted, ...kept]), death_date: `20${10 + at}-01-02`, note: `n${at}` }
})

/**
 * Sent by the time alone, whatever is asked: what is read anew, and the dispatcher's claim. Audit entries of refusals are written
 * after the answer, several at once.
 */
const BY_TIME = /join breaker|^\s*with due as|\bbody_key\b|select next_due|from own_key|insert into account_entry/
const statements = noteStatements(BY_TIME)

interface Side {
  readonly server: TestServer
  readonly restricted: Peer & { readonly receiver: Awaited<ReturnType<typeof receiver>> }
  /** The participant that may do everything, to show that the two sides differ. */
  readonly everything: { readonly sender_id: string; readonly token: string }
}

/** A server with the registries, participants and grants of the demo, and these people. */
async function side(people: readonly Document[]): Promise<Side> {
  const server = await testServer({ limits: { page_size: 5, participant_rate: 1_000_000 } }, testClock(), QUIET)
  const { db } = server.database
  const { value: configuration } = await readYaml(DEMO_CONFIGURATION_PATH)
  await applyConfiguration(acting({ db, vault: () => Promise.reject(new Error('no vault is needed')) }), { configuration })
  await writeDocuments(server.database, await requireRegistry(db, 'civil'), people)
  const sender_id = 'restricted.spmis.example'
  const signer = await newSigner(server, sender_id, 'sig-1')
  const tokenOf = async (name: string) => {
    const participant = await server.context.directory.activeParticipant(name)
    if (participant === null) throw new Error(`there is no participant ${name}`)
    return (await server.context.tokens.issue(participant)).access_token
  }
  const taking = await receiver()
  server.closing(taking)
  const restricted = {
    sender_id,
    client_id: '',
    secret: '',
    token: await tokenOf(sender_id),
    signer,
    profile: SPEC,
    encryption: null,
    receiver: taking,
  }
  // The key is valid from now on, and the clock stood still before.
  server.clock.pass(10_000)
  const all = 'demo.spmis.example'
  return { server, restricted, everything: { sender_id: all, token: await tokenOf(all) } }
}

let sides: readonly [Side, Side]
beforeAll(async () => {
  sides = [await side(PEOPLE), await side(OTHERS)]
  // The first request of a server fills what is read once.
  for (const one of sides) {
    for (const mode of ['sync', 'async'] as const) {
      await answered(one, { namespace: 'civil', operation: search, mode }, { id: randomUUID() })
    }
  }
})
afterAll(async () => {
  statements.stop()
  for (const { server } of sides) await server.close()
})

/** A request of any operation; what differs between the two servers is their address alone. */
interface Request {
  readonly namespace: string
  readonly operation: Operation
  readonly mode: 'sync' | 'async'
  /** In place of that of the example. */
  readonly message?: object
}

const pathOf = ({ operation, mode }: Request): string =>
  (mode === 'sync' ? operation.sync_paths : operation.async_paths)[0] ??
  [...operation.sync_paths, ...operation.async_paths][0] ??
  ''

/** The answer that `restricted` gets to the request on one side. */
async function answered({ server, restricted }: Side, request: Request, ids: { readonly id: string }) {
  const kind = KINDS.find(({ name }) => name === request.namespace) ?? civil
  const known = kind.name === 'civil' && request.operation.kinds !== 'all' ? null : request.operation
  const example = known === null ? { header: {}, message: {} } : exampleOf(kind, known)
  const header = {
    ...example.header,
    version: '1.0.0',
    message_id: `m-${ids.id}`,
    message_ts: new Date().toISOString(),
    action: request.operation.action,
    sender_id: restricted.sender_id,
    receiver_id: undefined,
    sender_uri: `${restricted.receiver.url}/mine`,
    total_count: 0,
  }
  const message = { ...(request.message ?? example.message), transaction_id: `t-${ids.id}` }
  const envelope = JSON.parse(JSON.stringify({ header, message }))
  const url = `${server.url}/${request.namespace}/v1.0.0/${pathOf(request)}`
  const got = await gotten(server, restricted, post(url, signedBody(restricted, envelope), bearer(restricted)))
  return masked(got).replaceAll(restricted.receiver.url, 'URL')
}

const exampleOf = (kind: (typeof KINDS)[number], operation: Operation): Got => {
  try {
    return exampleRequest(kind, operation)
  } catch {
    return { header: {}, message: {} }
  }
}

/** Both sides answer alike. @returns the answer */
async function expectAlike(request: Request, id: string = randomUUID()): Promise<string> {
  const { results, statements: sent } = await statements.compared(
    () => answered(sides[0], request, { id }),
    () => answered(sides[1], request, { id }),
  )
  expect(results[0]).toBe(results[1])
  expect(sent[0]).toEqual(sent[1])
  return results[0]
}

const scalars = (value: unknown): readonly (string | number)[] => {
  if (typeof value === 'string' || typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(scalars) : []
}
/** Values in records of either side. */
const anyValue = fc.constantFrom(...new Set([...PEOPLE, ...OTHERS].flatMap(scalars)))
interface Identified {
  readonly identifier_type: string
  readonly identifier_value: string
}
const identifiers = PEOPLE.flatMap(({ identifier }) => identifier as readonly Identified[])
const anyIdentifier = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...identifiers) },
  {
    weight: 1,
    arbitrary: fc.record({
      identifier_type: fc.constantFrom(...civil.identifier_types.map(({ name }) => name), 'SHOE'),
      identifier_value: anyValue.map(String),
    }),
  },
)
const anyAttribute = fc.constantFrom(
  ...recordType.attributes.flatMap(({ name, paths, aliases = [] }) => [name, ...paths, ...aliases]),
  ...['identifier', 'UIN', 'identifier_type', 'age', 'note', 'gender', 'dob', 'parent1_identifier', 'parents'],
)
const anyComparison = fc.record({
  attribute: anyAttribute,
  operator: fc.constantFrom('eq', 'ne', 'gt', 'lt', 'ge', 'le', 'in', 'exists', 'like', 'between'),
  value: fc.oneof(anyValue, fc.array(anyValue, { maxLength: 3 }), fc.boolean()),
})
const anySelection = fc
  .array(anyAttribute, { minLength: 1, maxLength: 4 })
  .map((names) =>
    [...names, 'name { given_name }', 'who: birth_date', 'address { locality }', 'sex']
      .map((name) => name.replace(/\..*/, ''))
      .join(' '),
  )

/** Queries that ask for one identifier, in any form. */
const lookUp = fc.oneof(
  anyIdentifier.map(({ identifier_type: type, identifier_value: value }) => ({
    query_type: 'idtype-value',
    query: { type, value },
  })),
  anyIdentifier.map(({ identifier_type, identifier_value }) => ({
    query_type: 'expression',
    query: { [identifier_type]: { $eq: identifier_value } },
  })),
  fc
    .tuple(anyIdentifier, anySelection)
    .map(([{ identifier_type, identifier_value }, selection]) => ({
      query_type: 'graphql',
      query: { type: 'graphql', value: `{ person(${identifier_type}: ${JSON.stringify(identifier_value)}) { ${selection} } }` },
    })),
)
/** Queries that ask about anything else, alone or beside an identifier. */
const question = fc.oneof(
  anyComparison.map(({ attribute, operator, value }) => ({
    query_type: 'expression',
    query: { [attribute]: { [`$${operator}`]: value } },
  })),
  fc
    .tuple(anyIdentifier, anyComparison, fc.constantFrom('$and', '$or'))
    .map(([identifier, asked, joined]) => ({
      query_type: 'expression',
      query: {
        [joined]: [
          { [identifier.identifier_type]: { $eq: identifier.identifier_value } },
          { [asked.attribute]: { [`$${asked.operator}`]: asked.value } },
        ],
      },
    })),
  anyComparison.map(({ attribute, operator, value }) => ({
    query_type: 'predicate',
    query: [{ seq_num: 1, expression1: { attribute_name: attribute, operator, attribute_value: value } }],
  })),
  fc
    .tuple(anyAttribute, anyValue, anySelection)
    .map(([attribute, value, selection]) => ({
      query_type: 'graphql',
      query: {
        type: 'graphql',
        value: `{ person(${attribute.replaceAll('.', '_')}: ${JSON.stringify(String(value))}) { ${selection} } }`,
      },
    })),
)
const CONSENT = { ts: new Date(Date.now() - 60_000).toISOString(), purpose: { text: 'Check', code: 'eligibility' } }
const anyConsent = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ consent: CONSENT }) },
  fc.constantFrom(
    {},
    { authorize: CONSENT },
    { consent: { ...CONSENT, purpose: { code: 'emergency' } } },
    { consent: { purpose: CONSENT.purpose } },
    { consent: { ...CONSENT, ts: '1999-01-01T00:00:00Z' } },
    { authorize: { ...CONSENT, purpose: { text: 'Help', code: 'emergency' } } },
  ),
)
/** Most of what is asked is understood, so that much of it is answered with records. */
const rarely = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
const anyPage = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 4, arbitrary: fc.record({ page_size: fc.constantFrom(1, 2, 5), page_number: fc.constantFrom(1, 2, 3) }) },
  fc.record({ page_size: fc.constantFrom(0, 6, 1_000), page_number: fc.constantFrom(0, 4_000) }, { requiredKeys: [] }),
)
const anySort = fc.array(fc.record({ attribute_name: anyAttribute, sort_order: fc.constantFrom('asc', 'desc') }), {
  minLength: 1,
  maxLength: 2,
})
const anyCriteria = fc
  .record({
    asked: fc.oneof({ weight: 3, arbitrary: lookUp }, { weight: 1, arbitrary: question }),
    consent: anyConsent,
    pagination: anyPage,
    sort: rarely(anySort),
    reg_record_type: rarely(fc.constantFrom('Person', 'CRVS_Person', 'Group', 'Member')),
    reg_event_type: rarely(fc.constantFrom('LiveBirth', 'Death', 'UPDATE', 'Shoe')),
    filter: rarely(anyComparison),
  })
  .map(({ asked, consent, ...others }) => ({ ...others, ...asked, ...consent }))
const anySearch = fc
  .array(anyCriteria, { minLength: 1, maxLength: 3 })
  .map((criteria) => ({
    search_request: criteria.map((search_criteria, index) => ({
      reference_id: `r-${index}`,
      timestamp: '2026-02-03T09:15:00.000Z',
      search_criteria,
    })),
  }))
const mode = fc.constantFrom('sync', 'async' as const)
const search = OPERATIONS.find(({ name }) => name === 'search') ?? expect.fail()

describe('two databases that differ only in what restricted may not see answer alike', () => {
  it('searches in every form, with every sort, page, record type, event type and consent', async () => {
    let found = 0
    await fc.assert(
      fc.asyncProperty(anySearch, mode, async (message, how) => {
        const text = await expectAlike({ namespace: 'civil', operation: search, mode: how as 'sync', message })
        if (text.includes('birth_date')) found += 1
      }),
      { numRuns: 100 },
    )
    // Enough of them are answered with a record.
    expect(found).toBeGreaterThan(10)
  })

  it('every operation in every registry', async () => {
    for (const { name: namespace } of KINDS) {
      for (const operation of OPERATIONS) {
        for (const how of ['sync', 'async'] as const) {
          await expectAlike({ namespace, operation, mode: how })
        }
      }
    }
  })

  it('questions about its own searches, and messages that come again', async () => {
    const status = OPERATIONS.find(({ name }) => name === 'txn-status') ?? expect.fail()
    await fc.assert(
      fc.asyncProperty(anySearch, mode, mode, async (message, asked, how) => {
        const id = randomUUID()
        const sent = { namespace: 'civil', operation: search, mode: asked as 'sync', message }
        const first = await expectAlike(sent, id)
        for (const [attribute_type, attribute_value] of [
          ['transaction_id', `t-${id}`],
          ['reference_id_list', ['r-0', 'r-1']],
        ]) {
          const txnstatus_request = { reference_id: 'q', txn_type: 'search', attribute_type, attribute_value }
          await expectAlike({ namespace: 'civil', operation: status, mode: how as 'sync', message: { txnstatus_request } })
        }
        expect(await expectAlike(sent)).toHaveLength(first.length)
      }),
      { numRuns: 15 },
    )
  })

  it('while whoever may see everything is answered differently', async () => {
    const texts = await Promise.all(
      sides.map(async ({ server, everything }) => {
        const example = exampleRequest(civil, search)
        const header = { ...example.header, sender_id: everything.sender_id, receiver_id: undefined }
        const [item] = example.message.search_request
        const { search_criteria } = item
        const { identifier_type: type, identifier_value: value } = identifiers[0] ?? expect.fail()
        const asked = { ...item, search_criteria: { ...search_criteria, query: { type, value } } }
        const message = { ...example.message, search_request: [asked] }
        const url = `${server.url}/civil/v1.0.0/registry/sync/search`
        const { body } = await post(
          url,
          { header: { ...header, sender_uri: undefined }, message },
          { Authorization: `Bearer ${everything.token}` },
        )
        return JSON.stringify(body.message.search_response[0].data.reg_records)
      }),
    )
    expect(texts[0]).toContain('birth_date')
    expect(texts[0]).not.toBe(texts[1])
  })
})
