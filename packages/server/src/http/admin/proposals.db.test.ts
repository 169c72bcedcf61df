/** Two-person approval over the admin API: what waits, who may decide, and that an act is done at most once. */

import { createApprovalService } from '@rollcall/admin/approvals/approval'
import { approveProposal, declineProposal } from '@rollcall/admin/approvals/proposals'
import { applyConfiguration, exportConfiguration } from '@rollcall/admin/configuration/apply'
import { setGrant } from '@rollcall/admin/grants/grant-changes'
import { listGrants } from '@rollcall/admin/grants/grants'
import { addOperator } from '@rollcall/admin/operators/operators'
import { makeSignInLink } from '@rollcall/admin/operators/sessions'
import type { Operator } from '@rollcall/core/model/operator'
import { lapseAndDeleteProposals } from '@rollcall/participants/store/proposals'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { keyPair } from '../../../../core/test/key-pairs.ts'
import { testClock } from '../../../../observe/test/clock.ts'
import { type AdminCaller, adminCaller } from '../../../test/admin-api.ts'
import { type TestServer, testServer } from '../../../test/server.ts'

const HOUR = 3_600_000
const clock = testClock()
let server: TestServer
let caller: AdminCaller
/** Tokens of two persons with the role own. */
let [ada, bea] = ['', '']

beforeAll(async () => {
  server = await testServer({ ROLLCALL_TWO_PERSON: '1', limits: { replay_deliveries: 0 } }, clock)
  await server.registry('civil')
  caller = await adminCaller(server)
  ada = await caller.token('ada', ['own'])
  bea = await caller.token('bea', ['own'])
})
afterAll(() => server.close())

const NARROW = { operations: ['search'], see: ['birth_date'], basis: 'law' } as const
const WIDE = { operations: 'all', see: 'all', basis: 'law' } as const

let peers = 0
/** A participant with a narrow grant. */
async function peer(): Promise<string> {
  peers += 1
  const sender_id = `peer-${peers}.example`
  await server.participant(sender_id)
  await setGrant(acting(server.database), { sender_id, namespace: 'civil', terms: NARROW })
  return sender_id
}

const grantPath = (sender_id: string) => `/registries/civil/grants/${sender_id}`
const seen = async (sender_id: string) =>
  (await listGrants(server.database, { sender_id, namespace: 'civil' })).map(({ terms }) => terms.see)

async function proposed(path: string, body: object, token = ada): Promise<string> {
  const { status, body: answer } = await caller.post(path, body, token)
  expect({ status, answer }).toMatchObject({ status: 202, answer: { proposal: { id: expect.any(String) } } })
  return answer.proposal.id
}
const approve = (id: string, token = bea) => caller.post(`/proposals/${id}/approve`, {}, token)
const refusedApproval = (id: string, token = bea) => caller.refusal(`/proposals/${id}/approve`, {}, token)

it('a wider grant waits for another operator, who sees what would change, and both have audit entries', async () => {
  const sender_id = await peer()
  const id = await proposed(grantPath(sender_id), { terms: WIDE })
  expect(await seen(sender_id)).toEqual([['birth_date']])
  const { body: shown } = await caller.get(`/proposals/${id}`, bea)
  expect(shown).toMatchObject({
    act: 'grant set',
    state: 'waiting',
    proposed_by: 'ada',
    role: 'own',
    own: false,
    diff: [
      { at: 'sender_id', from: sender_id, to: sender_id },
      { at: 'namespace', from: 'civil', to: 'civil' },
      { at: 'operations', from: ['search'], to: 'all' },
      { at: 'see', from: ['birth_date'], to: 'all' },
    ],
  })
  const { status, body } = await approve(id)
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { proposal: { state: 'done', decided_by: 'bea' }, result: { sender_id, terms: WIDE } },
  })
  expect(await seen(sender_id)).toEqual(['all'])
  const { body: entries } = await caller.get('/accounts?kind=operator&limit=20')
  const notes = entries.map(({ operator, approved_by, note }: { operator: string; approved_by: string | null; note: string }) =>
    [operator, approved_by, note].join(' | '),
  )
  expect(notes).toEqual(
    expect.arrayContaining(['ada |  | proposal: grant set', 'ada | bea | proposal approve: grant set', 'ada | bea | grant set']),
  )
})

it('a narrower grant does not wait', async () => {
  const sender_id = await peer()
  const narrower = { ...NARROW, items_per_day: 5 }
  expect((await caller.post(grantPath(sender_id), { terms: narrower }, ada)).status).toBe(200)
})

describe('who may decide', () => {
  let id = ''
  beforeAll(async () => {
    id = await proposed(grantPath(await peer()), { terms: WIDE })
  })

  it.each(['approve', 'decline'])('not the one who proposed it: %s', async (decision) => {
    expect(await caller.refusal(`/proposals/${id}/${decision}`, {}, ada)).toBe(
      '403 err.request.forbidden who has proposed it cannot decide about it: another operator must',
    )
  })

  it('not a later token of the same name', async () => {
    await caller.post('/operators/revoke', { name: 'ada' }, bea)
    ada = await caller.token('ada', ['own'])
    expect(await refusedApproval(id, ada)).toBe(
      '403 err.request.forbidden who has proposed it cannot decide about it: another operator must',
    )
  })

  it('not who has not the role of the act', async () => {
    for (const role of ['read', 'operate', 'audit'] as const) {
      expect(await refusedApproval(id, caller.tokens[role])).toBe('403 err.request.forbidden this needs the role own')
    }
    expect((await caller.get(`/proposals/${id}`, caller.tokens.read)).body.confidential).toBe(null)
  })

  it('nobody without a name: a command without a token', async () => {
    await expect(approveProposal(acting(server.context), { id })).rejects.toThrow(
      'this needs two operators (ROLLCALL_TWO_PERSON), and the user of a shell is not known well enough: set ROLLCALL_OPERATOR_TOKEN to a token of your own',
    )
  })
})

describe('who is who', () => {
  const decided = (id: string, by: Operator) =>
    declineProposal(acting({ ...server.context, caller: { kind: 'operator', operator: by } as const }), { id }).then(
      () => 'declined',
      (error: Error) => error.message,
    )
  const provided = (subject: string, name: string): Operator => ({
    id: null,
    subject: `https://login.example ${subject}`,
    name: `oidc:${name}`,
    roles: ['own'],
    registries: null,
    authority: null,
  })
  const proposedBy = async (operator: Operator): Promise<string> => {
    const approvals = createApprovalService({ limits: server.context.limits, clock })
    const deps = { ...server.context, caller: { kind: 'operator', operator } as const, approvals }
    const wider = { sender_id: await peer(), namespace: 'civil', terms: WIDE } as const
    const waiting = await setGrant(acting(deps), wider).catch((error) => error)
    expect(waiting).toMatchObject({ name: 'Proposed', proposal: { proposed_by: operator.name } })
    return waiting.proposal.id
  }
  const ownAct = 'who has proposed it cannot decide about it: another operator must'

  it('at a provider of OpenID Connect: the subject counts, whatever the name, and the name too', async () => {
    const id = await proposedBy(provided('17', 'ada'))
    expect(await decided(id, provided('17', 'ada'))).toBe(ownAct)
    expect(await decided(id, provided('17', 'ada.married'))).toBe(ownAct)
    expect(await decided(id, provided('18', 'ada'))).toBe(ownAct)
    expect(await decided(id, provided('18', 'bea'))).toBe('declined')
  })

  it('a person with a token and an account at the provider is two for us', async () => {
    const operator = await server.context.operators.operatorOf(ada)
    if (operator === null) throw new Error('no such operator')
    expect(await decided(await proposedBy(provided('17', 'ada')), operator)).toBe('declined')
    expect(await decided(await proposedBy(operator), provided('17', 'ada'))).toBe('declined')
  })

  it('a token that decides is not made alone; one that another has approved may decide about its maker', async () => {
    const made = await proposed('/operators', { name: 'dan', roles: ['own'] })
    expect(await refusedApproval(made, ada)).toContain(ownAct)
    const dan = await server.context.operators.operatorOf((await approve(made)).body.result.token)
    if (dan === null) throw new Error('no such operator')
    const operator = await server.context.operators.operatorOf(ada)
    if (operator === null) throw new Error('no such operator')
    expect(await decided(await proposedBy(operator), dan)).toBe('declined')
  })
})

it('it is declined once, and then nobody approves it', async () => {
  const sender_id = await peer()
  const id = await proposed(grantPath(sender_id), { terms: WIDE })
  const declined = await caller.post(`/proposals/${id}/decline`, {}, bea)
  expect(declined.body).toMatchObject({ state: 'declined', decided_by: 'bea' })
  expect(await refusedApproval(id)).toBe('409 err.request.bad the proposal does not wait any more: it is declined')
  expect(await seen(sender_id)).toEqual([['birth_date']])
})

it('what an operator proposed whose token was revoked since is approved by nobody', async () => {
  const leaver = await caller.token('leaver', ['own'])
  const sender_id = await peer()
  const id = await proposed(grantPath(sender_id), { terms: WIDE }, leaver)
  expect((await caller.post('/operators/revoke', { name: 'leaver' }, bea)).body).toEqual({
    name: 'leaver',
    sessions: 0,
    proposals: 1,
  })
  expect(await refusedApproval(id)).toBe('409 err.request.bad the proposal does not wait any more: it is lapsed')
  expect(await seen(sender_id)).toEqual([['birth_date']])
})

it('what two approve at once is done once', async () => {
  const sender_id = await peer()
  const id = await proposed(grantPath(sender_id), { terms: WIDE })
  const answers = await Promise.all([approve(id), approve(id, caller.tokens.own), approve(id)])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
})

it('it is refused where what is stored has changed since', async () => {
  const sender_id = await peer()
  const id = await proposed(grantPath(sender_id), { terms: WIDE })
  await setGrant(acting(server.database), { sender_id, namespace: 'civil', terms: { ...NARROW, see: [] } })
  vi.spyOn(server.context.auditLog, 'write').mockRejectedValueOnce(new Error('full'))
  expect((await approve(id)).status).toBe(500)
  // Nothing was decided without an audit entry.
  expect((await caller.get(`/proposals/${id}`, bea)).body.state).toBe('waiting')
  expect(await refusedApproval(id)).toBe('409 err.request.bad what is stored has changed since it was proposed: propose it again')
  expect((await caller.get(`/proposals/${id}`, bea)).body.state).toBe('outdated')
  expect(await seen(sender_id)).toEqual([[]])
})

it('it lapses after 72 hours, and its input is erased', async () => {
  const id = await proposed(grantPath(await peer()), { terms: WIDE })
  clock.pass(72 * HOUR)
  expect((await caller.get('/proposals?state=waiting', bea)).body).toEqual([])
  expect(await refusedApproval(id)).toBe('409 err.request.bad the proposal does not wait any more: it is lapsed')
  const { db } = server.database
  await lapseAndDeleteProposals(db, 90, new Date(clock.date()))
  const { rows } = await db.pool.query('select state, sealed from proposal where id = $1', [id])
  expect(rows).toEqual([{ state: 'lapsed', sealed: null }])
  await lapseAndDeleteProposals(db, 90, new Date(clock.date() + 91 * 24 * HOUR))
  expect((await caller.get('/proposals', bea)).body).toEqual([])
})

it('an unknown id is 404', async () => {
  for (const id of ['x', '0c0e9a4e-52a7-4f0e-8a50-3f1a4d0d3c11']) {
    expect(await refusedApproval(id)).toBe('404 err.request.not_found id: there is no proposal with this id')
  }
})

it('what is confidential is encrypted, and shown to those who may decide', async () => {
  const lift = { identifier_type: 'UIN', identifier_value: '8128560370' }
  const id = await proposed('/registries/civil/protected-persons/lift', lift)
  const { rows } = await server.database.db.pool.query(
    "select diff || encode(sealed, 'escape') as stored from proposal where id = $1",
    [id],
  )
  expect(rows[0].stored).not.toContain('8128560370')
  expect((await caller.get(`/proposals/${id}`, caller.tokens.read)).body.confidential).toBe(null)
  expect((await caller.get(`/proposals/${id}`, bea)).body.confidential).toEqual({ identifier_value: '8128560370' })
  // A refusal of the act is the answer to the approver, and the proposal is over.
  expect(await refusedApproval(id)).toBe('404 err.request.not_found identifier: no protected person has it')
  expect((await caller.get(`/proposals/${id}`, bea)).body).toMatchObject({
    state: 'failed',
    failure: 'the act was refused',
    confidential: null,
  })
})

describe('the other acts', () => {
  const one = (sender_id: string, what: string) => `/participants/${sender_id}/${what}`
  const jwk = () => JSON.stringify({ ...keyPair('Ed25519').jwk, kid: 'k-1' })

  it.each<[string, () => object, act: string]>([
    ['keys', () => ({ keys: jwk() }), 'participant key add'],
    ['policy', () => ({ jwks_uri: 'https://203.0.113.7/jwks' }), 'participant policy'],
    ['policy', () => ({ signature_policy: 'off' }), 'participant policy'],
    ['callback', () => ({ default_url: 'https://203.0.113.7/in' }), 'participant callback'],
    ['callback', () => ({ notify_url: 'https://203.0.113.7/in' }), 'participant callback'],
    ['callback', () => ({ allow: ['https://203.0.113.7'] }), 'participant callback'],
    ['hosts', () => ({ host: 'spmis.example' }), 'participant host allow'],
    ['secrets', () => ({}), 'participant secret rotate'],
    ['promote', () => ({ keys: jwk() }), 'participant promote'],
  ])('%s', async (what, body, act) => {
    const id = await proposed(one(await peer(), what), body())
    expect((await caller.get(`/proposals/${id}`)).body.act).toBe(act)
  })

  it('do not wait where they give no access', async () => {
    const sender_id = await peer()
    expect((await caller.post(one(sender_id, 'callback'), { rate: 7 }, ada)).status).toBe(200)
    expect((await caller.post(one(sender_id, 'policy'), { jwks_uri: null }, ada)).status).toBe(200)
    expect((await caller.post('/participants', { sender_id: 'new.example', name: 'New' }, ada)).status).toBe(201)
  })

  it('a participant with a grant', async () => {
    const body = { sender_id: 'granted.example', name: 'Granted', grants: { civil: WIDE } }
    const id = await proposed('/participants', body)
    expect((await approve(id)).body.result.client_secret).toEqual(expect.any(String))
  })

  it('an operator who could decide; others are added at once', async () => {
    const id = await proposed('/operators', { name: 'eve', roles: ['own'] })
    expect((await approve(id)).body.result.token).toMatch(/^rollcall_/)
    expect((await caller.post('/operators', { name: 'reader', roles: ['read'] }, ada)).status).toBe(201)
  })

  it('no link signs in as somebody else', async () => {
    const operator = await server.context.operators.operatorOf(ada)
    const approvals = createApprovalService({ limits: server.context.limits, clock })
    if (operator === null) throw new Error('no such operator')
    const deps = { ...server.context, caller: { kind: 'operator', operator } as const, approvals }
    expect(await makeSignInLink(acting(deps), { name: 'ada' })).toMatchObject({ name: 'ada' })
    for (const asking of [deps, { ...server.context, approvals }]) {
      await expect(makeSignInLink(acting(asking), { name: 'bea' })).rejects.toThrow(
        'where acts need two operators (ROLLCALL_TWO_PERSON), a link is made for the owner of ROLLCALL_OPERATOR_TOKEN alone',
      )
    }
  })

  it('credentials of callbacks, without their secrets', async () => {
    const body = { auth: 'bearer', token: 's3cret-value', origin: 'https://203.0.113.7' }
    const id = await proposed(one(await peer(), 'callback'), body)
    const { body: shown } = await caller.get(`/proposals/${id}`, bea)
    expect(JSON.stringify(shown)).toContain('https://203.0.113.7')
    expect(JSON.stringify(shown)).not.toContain('s3cret-value')
  })

  it('opening a body', async () => {
    const auditor = await caller.token('auditor', ['audit'])
    const id = await proposed('/messages/m-1/bodies', { reason: 'case 7 of 2026' }, auditor)
    const { body: shown } = await caller.get(`/proposals/${id}`, caller.tokens.audit)
    expect(shown.confidential).toEqual({ reason: 'case 7 of 2026' })
    expect(await refusedApproval(id, caller.tokens.audit)).toBe(
      '404 err.request.not_found no body of a message with this message_id is stored',
    )
    // As a version before may have stored it.
    const line = { at: 'reason', from: 'case 7 of 2026', to: 'case 7 of 2026' }
    await server.database.db.pool.query('update proposal set diff = $2 where id = $1', [
      id,
      JSON.stringify([line, { ...line, at: 'opens' }]),
    ])
    const { body: listed } = await caller.get(`/proposals/${id}`, caller.tokens.read)
    expect(listed).toMatchObject({ confidential: null, diff: [{ at: 'opens' }] })
    expect(listed.diff).toHaveLength(1)
  })

  it('a configuration file, with what it changes; a dry run does not wait', async () => {
    const operator = await server.context.operators.operatorOf(ada)
    const approvals = createApprovalService({ limits: server.context.limits, clock })
    if (operator === null) throw new Error('no such operator')
    const deps = { ...server.context, caller: { kind: 'operator', operator } as const, approvals }
    const configuration = await exportConfiguration(deps, {})
    expect((await applyConfiguration(acting(deps), { configuration })).changes).toEqual([])
    const changed = { ...configuration, purposes: { eligibility: {} } }
    await applyConfiguration(acting(deps), { configuration: changed, dry_run: true })
    const waiting = await applyConfiguration(acting(deps), { configuration: changed }).catch((error) => error)
    expect(waiting).toMatchObject({ name: 'Proposed', proposal: { act: 'apply', proposed_by: 'ada' } })
    expect((await approve(waiting.proposal.id)).body.result).toMatchObject({ applied: true })
  })
})

it('a session says that acts wait', async () => {
  const response = await fetch(`${server.adminUrl}/admin/v1/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Rollcall-Console': '1' },
    body: JSON.stringify({ token: bea }),
  })
  expect(await response.json()).toMatchObject({ operator: 'bea', two_person: true })
})

it('without ROLLCALL_TWO_PERSON nothing waits: the same call is done', async () => {
  const alone = await testServer()
  await alone.registry('civil')
  await alone.participant('spmis.example')
  const { token } = await addOperator(acting(alone.database), { name: 'ada', roles: ['own'] })
  const response = await fetch(`${alone.adminUrl}/admin/v1${grantPath('spmis.example')}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ terms: WIDE }),
  })
  expect(response.status).toBe(200)
  await alone.close()
})
