/**
 * The same act by each way that a person takes to it, on a participant each: by the console, the admin API, a command, a
 * configuration file and a proposal it has the same effect, the same entry but for its caller, and the same refusal. The
 * partner page reaches none of them.
 */

import { AdminRefusal } from '@rollcall/admin/admin-function'
import { ActWaitsError, createApprovalService } from '@rollcall/admin/approvals/approval'
import { approveProposal } from '@rollcall/admin/approvals/proposals'
import { changeCallback } from '@rollcall/admin/callbacks/callbacks'
import { applyConfiguration, exportConfiguration } from '@rollcall/admin/configuration/apply'
import { setGrant } from '@rollcall/admin/grants/grant-changes'
import { allowParticipantHost, changeParticipantPolicy } from '@rollcall/admin/participants/policy'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { storedEntries } from '../../../settings/test/audit-log.ts'
import { ADMIN_BASE } from '../../src/http/admin/route.ts'
import { adminCaller } from '../admin-api.ts'
import { askPartner, partnerBrowser } from '../partner.ts'
import type { OperatorDeps } from '../proposed-act.ts'
import { answerOf, testServer } from '../server.ts'

const server = await testServer({ ROLLCALL_PARTNER_PAGE: '1' })
afterAll(() => server.close())
const { db } = server.database
await server.registry('civil')
const caller = await adminCaller(server)
const byOperator = async (name: string): Promise<OperatorDeps> => {
  const operator = await server.context.operators.operatorOf(await caller.token(name, ['own']))
  if (operator === null) throw new Error('no such operator')
  const { limits, clock } = server.context
  return { ...server.context, caller: { kind: 'operator', operator }, approvals: createApprovalService({ limits, clock }) }
}
const [ada, bea] = [await byOperator('ada'), await byOperator('bea')]
const { approvals: _, ...alone } = ada
const shell: OperatorDeps = {
  ...alone,
  caller: { kind: 'shell', user: 'root' },
  approvals: { areNeeded: false, propose: () => Promise.reject(new Error('it does not wait')) },
}

interface Act {
  readonly name: string
  /** Below the base of the admin API. */
  readonly path: (sender_id: string) => string
  readonly call: (deps: OperatorDeps, sender_id: string, body: never) => Promise<unknown>
  readonly entry: (body: never) => object
  readonly body: fc.Arbitrary<object>
}

const host = fc.record(
  {
    host: fc.constantFrom('a.internal', 'b.internal', 'not a host', ''),
    ports: fc.constantFrom([8443], [1, 2]),
    private: fc.boolean(),
  },
  { requiredKeys: ['host'] },
)
// Something is changed, or refused: a file says nothing of what is as it was.
const policy = fc.record(
  {
    encryption_policy: fc.constantFrom('required', 'refused'),
    signature_policy: fc.constantFrom('if-present', 'off'),
    allow_unsigned: fc.boolean(),
  },
  { requiredKeys: ['encryption_policy'] },
)
const callback = fc.record({ allow: fc.constantFrom(['https://203.0.113.7/in'], ['ftp://no'], ['https://a@b.example']) })
const terms = fc.record({
  terms: fc.record({
    operations: fc.constantFrom('all', ['search'], ['no-such-operation']),
    see: fc.constantFrom('all', ['birth_date'], ['no_such_attribute']),
    basis: fc.constant('law'),
  }),
})

const ACTS: readonly Act[] = [
  {
    name: 'participant host allow',
    path: (sender_id) => `/participants/${sender_id}/hosts`,
    call: (deps, sender_id, body: object) => allowParticipantHost(deps, { sender_id, ...(body as { host: string }) }),
    entry: (row) => ({ hosts: [row] }),
    body: host,
  },
  {
    name: 'participant policy',
    path: (sender_id) => `/participants/${sender_id}/policy`,
    call: (deps, sender_id, body: object) => changeParticipantPolicy(deps, { sender_id, ...body }),
    entry: (given) => ({ policy: given }),
    body: policy,
  },
  {
    name: 'participant callback',
    path: (sender_id) => `/participants/${sender_id}/callback`,
    call: (deps, sender_id, body: object) => changeCallback(deps, { sender_id, ...body }),
    entry: ({ allow }: { allow: string[] }) => ({ callback: { allowed: allow } }),
    body: callback,
  },
  {
    name: 'grant set',
    path: (sender_id) => `/registries/civil/grants/${sender_id}`,
    call: (deps, sender_id, body: never) => setGrant(deps, { sender_id, namespace: 'civil', ...(body as object) } as never),
    entry: ({ terms: given }: { terms: object }) => ({ grants: { civil: given } }),
    body: terms,
  },
]

async function post(path: string, body: object, headers: Readonly<Record<string, string>>): Promise<void> {
  const answer = await answerOf(
    await fetch(`${server.adminUrl}${ADMIN_BASE}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
    }),
  )
  if (answer.status >= 400) throw new AdminRefusal(answer.body.errors[0].message)
}

const CONSOLE = { 'Rollcall-Console': '1', 'Sec-Fetch-Site': 'same-origin' }
const signedIn = await fetch(`${server.adminUrl}${ADMIN_BASE}/session`, {
  method: 'POST',
  body: JSON.stringify({ token: caller.tokens.own }),
  headers: { 'Content-Type': 'application/json', ...CONSOLE },
})
const Cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? ''

type Way = (act: Act, sender_id: string, body: never) => Promise<unknown>
const WAYS: Readonly<Record<string, Way>> = {
  console: ({ path }, sender_id, body) => post(path(sender_id), body, { ...CONSOLE, Cookie }),
  'admin API': ({ path }, sender_id, body) => post(path(sender_id), body, { Authorization: `Bearer ${caller.tokens.own}` }),
  command: ({ call }, sender_id, body) => call(shell, sender_id, body),
  'configuration file': ({ entry }, sender_id, body) =>
    applyConfiguration(shell, { configuration: { version: 1, participants: { [sender_id]: entry(body) } } }),
  async proposal({ call }, sender_id, body) {
    const waiting = await call(ada, sender_id, body).catch((error: unknown) => error)
    if (waiting instanceof ActWaitsError) return approveProposal(bea, { id: waiting.proposal.id })
    if (waiting instanceof Error) throw waiting
  },
}

let count = 0
/** The refusal, the participant as it is stored afterwards, and the entries of the act. */
async function outcome(way: Way, act: Act, body: object) {
  count += 1
  const sender_id = `way-${count}.example`
  await server.participant(sender_id, { signature_policy: 'required', allow_unsigned: false }, {})
  await db.pool.query('delete from participant_grant where participant = (select max(id) from participant)')
  const before = (await storedEntries(db)).length
  const refusal = await way(act, sender_id, body as never).then(
    () => null,
    (error: unknown) => (error instanceof AdminRefusal ? error.message : error),
  )
  const { participants = {} } = await exportConfiguration(shell, {})
  const entries = (await storedEntries(db))
    .slice(before)
    .map(({ entry }) => ({ ...entry, note: entry.note?.replace(/^apply: /, '') }))
    .filter(({ note }) => note === act.name)
  return { refusal, stored: participants[sender_id], entries: entries.map(({ operator, approved_by, ...one }) => one) }
}

test.each(ACTS.map((act) => [act.name, act] as const))('%s', async (_name, act) => {
  await fc.assert(
    fc.asyncProperty(act.body, async (body) => {
      const { 'admin API': api, ...others } = WAYS
      if (api === undefined) throw new Error('no way')
      const expected = await outcome(api, act, body)
      for (const [name, way] of Object.entries(others)) {
        const { refusal, stored, entries } = await outcome(way, act, body)
        const path = { name, stored: { ...stored, name: null } }
        expect(path).toEqual({ name, stored: { ...expected.stored, name: null } })
        if (expected.refusal === null) {
          expect([name, refusal, entries]).toEqual([name, null, expected.entries])
          expect(entries).toHaveLength(1)
        } else {
          // A file names the place of the member before the rule.
          expect(`${name}: ${refusal}`).toContain(String(expected.refusal).replace(/^(?:[\w.]+: )+/, ''))
        }
      }
    }),
    { numRuns: 3 },
  )
})

test('the partner page reaches none of them', async () => {
  await server.participant('partner.example')
  const partner = await partnerBrowser(server, 'partner.example')
  for (const { path, body } of ACTS) {
    const [given] = fc.sample(body, 1)
    const { status } = await askPartner(server, path('partner.example'), partner, given ?? {})
    expect(status).toBe(404)
  }
})
