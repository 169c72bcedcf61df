/** Every act that may wait for a second operator, from its proposal to each of its ends. */

import { NO_APPROVAL_NEEDED } from '@rollcall/admin/act'
import { ActWaitsError, createApprovalService } from '@rollcall/admin/approvals/approval'
import { approveProposal, declineProposal } from '@rollcall/admin/approvals/proposals'
import { listTables, tableNameSql } from '@rollcall/backup/store/catalog'
import type { Operator } from '@rollcall/core/model/operator'
import { type Database, openDatabase } from '@rollcall/database/database'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { APPROVABLE_ACTS } from '../../../../admin/src/approvals/acts.ts'
import { type AdminCaller, adminCaller } from '../../../test/admin-api.ts'
import type { OperatorDeps, ReadyAct } from '../../../test/proposed-act.ts'
import { type ProposedActs, proposedActs } from '../../../test/proposed-acts.ts'

const HOUR = 3_600_000
let world: ProposedActs
let owner: Database
let caller: AdminCaller
interface Person {
  readonly token: string
  readonly operator: Operator
}
let [ada, bea, cora]: readonly Person[] = []

beforeAll(async () => {
  world = await proposedActs()
  owner = openDatabase(world.server.database.owner)
  tables = (await listTables(owner.pool)).map(tableNameSql).filter((name) => !BESIDE.test(name))
  caller = await adminCaller(world.server)
  const made: Person[] = []
  for (const name of ['ada', 'bea', 'cora']) {
    const token = await caller.token(name, ['own'])
    const operator = await world.server.context.operators.operatorOf(token)
    if (operator === null) throw new Error('no such operator')
    made.push({ token, operator })
  }
  ;[ada, bea, cora] = made
})
afterAll(async () => {
  await owner.close()
  await world.server.close()
})

/** Tables written beside the acts, and by a node itself. */
const BESIDE = /^"?(proposal|account.*|session|slow_search|grant_use|quota_bucket)"?$/
let tables: readonly string[] = []
/** A digest of each table that acts may change. */
async function stored(): Promise<Readonly<Record<string, string>>> {
  const digests = tables.map(
    (name) => `select '${name}' as name, md5(string_agg(row::text, ' ' order by row::text)) as digest from ${name} as row`,
  )
  const { rows } = await owner.pool.query<{ name: string; digest: string }>(digests.join(' union all '))
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]))
}

/** The dependencies of a command that this person runs. */
function depsOf({ operator }: Person, skipped = 0) {
  const { context } = world.server
  const clock = { ...context.clock, date: () => context.clock.date() + skipped }
  return { ...context, clock, owner, caller: { kind: 'operator', operator } as const, approvals: NO_APPROVAL_NEEDED }
}

/** Proposes it as Ada. @returns the proposal, as she is answered */
async function proposed(ready: ReadyAct): Promise<{ readonly id: string; readonly shown: string }> {
  const { proposal } = 'path' in ready ? await byCall(ready) : await byCommand(ready.command)
  return { id: proposal.id, shown: JSON.stringify(proposal) }
}

async function byCall({ path, body }: Extract<ReadyAct, { path: string }>) {
  const answer = await caller.post(path, body, ada?.token)
  expect(answer).toMatchObject({ status: 202, body: { proposal: { proposed_by: 'ada' } } })
  return answer.body
}

async function byCommand(command: (deps: OperatorDeps) => Promise<unknown>): Promise<ActWaitsError> {
  const { limits, clock } = world.server.context
  const asking = { ...depsOf(person(ada)), approvals: createApprovalService({ limits, clock }) }
  await expect(command({ ...asking, caller: { kind: 'shell', user: 'root' } })).rejects.toThrow(
    /^this needs two operators \(ROLLCALL_TWO_PERSON\), and the user of a shell is not known well enough/,
  )
  const waiting = await command(asking).catch((error) => error)
  if (waiting instanceof ActWaitsError) return waiting
  throw waiting
}

function person(one: Person | undefined): Person {
  if (one === undefined) throw new Error('nobody')
  return one
}

const WORDS = { approve: approveProposal, decline: declineProposal }
/** The answer to a person who decides. @param skipped milliseconds by which the clock has gone on */
const decided = (id: string, word: keyof typeof WORDS, by: Person | undefined, skipped = 0): Promise<string> =>
  WORDS[word](depsOf(person(by), skipped), { id }).then(
    () => 'done',
    (error: Error) => error.message,
  )

const names = APPROVABLE_ACTS.map(({ act }) => act.name)

it('each act has its row here', () => {
  expect(Object.keys(world.acts).toSorted()).toEqual(names.toSorted())
})

describe.each(names)('%s', (name) => {
  const ready = () => world.acts[name]?.() ?? Promise.reject(new Error('no row'))

  it('waits, is not for its proposer, lapses, is declined, and is done once by two who approve', async () => {
    const act = await ready()
    const before = await stored()
    const { id, shown } = await proposed(act)
    expect(await stored()).toEqual(before)
    const { body: listed } = await caller.get(`/proposals/${id}`, caller.tokens.read)
    expect(listed).toMatchObject({ act: name, state: 'waiting', proposed_by: 'ada', confidential: null })
    for (const text of [shown, JSON.stringify(listed.diff)]) {
      expect(text).toContain(act.shows)
      for (const hidden of act.hides) expect(text).not.toContain(hidden)
    }
    for (const word of ['approve', 'decline'] as const) {
      expect(await decided(id, word, ada)).toBe('who has proposed it cannot decide about it: another operator must')
    }
    const lapsed = 'the proposal does not wait any more: it is lapsed'
    expect(await decided(id, 'approve', bea, 72 * HOUR)).toBe(lapsed)
    expect(await decided(id, 'decline', bea)).toBe('done')
    expect(await decided(id, 'approve', cora)).toBe('the proposal does not wait any more: it is declined')
    expect(await stored()).toEqual(before)

    // Proposed again, it is done once by two who approve at once, and the audit entry has both names.
    await doneOnce(act, before)
  })

  it('is refused where the world has changed, and done by nobody afterwards', async () => {
    const act = await ready()
    const { id } = await proposed(act)
    await act.meanwhile()
    const before = await stored()
    expect(await decided(id, 'approve', bea)).toMatch(act.refusal)
    expect(await decided(id, 'approve', cora)).toMatch(/^the proposal does not wait any more: it is (outdated|failed)$/)
    expect(await stored()).toEqual(before)
  })

  async function doneOnce(act: ReadyAct, before: Awaited<ReturnType<typeof stored>>): Promise<void> {
    const { id } = await proposed(act)
    const [one, other] = await Promise.all([decided(id, 'approve', bea), decided(id, 'approve', cora)])
    const refused = one === 'done' ? other : one
    expect([one, other]).toEqual(expect.arrayContaining(['done']))
    expect(refused).toMatch(/^(another proposal is being approved|the proposal does not wait any more)/)
    const second = one === 'done' ? 'bea' : 'cora'
    const { body } = await caller.get(`/proposals/${id}`)
    expect(body).toMatchObject({ state: 'done', decided_by: second, failure: null })
    const changed = Object.entries(await stored()).filter(([table, digest]) => digest !== before[table])
    expect(changed.length > 0).toBe(act.looks !== true)
    const { body: entries } = await caller.get('/accounts?kind=operator&limit=10')
    expect(entries).toContainEqual(
      expect.objectContaining({ operator: 'ada', approved_by: second, note: `proposal approve: ${name}` }),
    )
  }
})

it('a server does not erase: it has not the address of the owner, and the proposal waits on', async () => {
  const act = await world.acts['erase person']?.()
  if (act === undefined) throw new Error('no row')
  const { id } = await proposed(act)
  expect(await caller.refusal(`/proposals/${id}/approve`, {}, person(bea).token)).toBe(
    '400 err.request.bad the audit log belongs to another role: set ROLLCALL_OWNER_DATABASE_URL (docs/roles.md)',
  )
  expect(await decided(id, 'approve', bea)).toBe('done')
})
