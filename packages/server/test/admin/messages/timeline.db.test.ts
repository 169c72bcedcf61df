import { AdminRefusal } from '@rollcall/admin/admin-function'
import { auditPerson } from '@rollcall/admin/audit/person-accesses'
import { showDelivery } from '@rollcall/admin/deliveries/deliveries'
import { openBodies, openDeliveryBody } from '@rollcall/admin/messages/bodies'
import { showMessage } from '@rollcall/admin/messages/timeline'
import { validator } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { memoryAuditLog, storedEntries } from '../../../../settings/test/audit-log.ts'
import { type AsyncPeer, accepted, asyncPeer, byIdentifier, deliverAll, searchFor } from '../../asynchronous.ts'
import { ADA } from '../../civil.ts'
import { answering } from '../../deliveries.ts'
import { bearer, post, type TestServer, testServer } from '../../server.ts'

let server: TestServer
let peer: AsyncPeer
const deps = () => ({ ...server.context, caller: { kind: 'shell', user: 'ada' } as const })
const show = (message_id: string, input: object = {}) => showMessage(acting(server.database), { message_id, ...input })
const PERSON = /0012|B-5521|Okoro/
const reason = 'complaint 12'

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil', [ADA])
  peer = await asyncPeer(server, 'peer.example')
})
afterAll(() => server.close())

async function refused(work: Promise<unknown>): Promise<string> {
  const error = await work.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AdminRefusal)
  return (error as AdminRefusal).message
}

async function askNow(): Promise<string> {
  const asked = searchFor(peer, [byIdentifier('UIN', '0012')])
  await post(`${server.url}/civil/v1.0.0/registry/sync/search`, asked, bearer(peer))
  return asked.header.message_id
}

async function askLater(): Promise<string> {
  const asked = searchFor(peer, [byIdentifier('UIN', '0012')])
  await accepted(server, peer, asked)
  return asked.header.message_id
}

const stepsOf = async (message_id: string) => {
  const { messages } = await show(message_id)
  expect(validator(showMessage.result).problem({ messages }, '')).toBeNull()
  expect(JSON.stringify(messages)).not.toMatch(PERSON)
  expect(messages).toHaveLength(1)
  return messages[0]?.steps ?? []
}

describe('the timeline', () => {
  test('of a synchronous request ends with its answer', async () => {
    const message_id = await askNow()
    const steps = await stepsOf(message_id)
    expect(steps.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual(
      ['received', 'verified', 'checked', 'searched', 'replied'].map((step) => `${step} done`),
    )
    expect(steps.map(({ duration_ms }) => duration_ms !== null)).toEqual([false, false, false, true, true])
    expect(steps[1]?.message).toBe('It is not signed, which the policy of its sender allows.')
    expect(steps[3]?.message).toBe('Items: 1 succ. Records that left: 1.')
    expect(steps[4]?.key).toEqual(expect.any(String))
  })

  test('of an asynchronous one goes on to its delivery, with each attempt and what is to come', async () => {
    peer.receiver.answer = answering(503)
    const message_id = await askLater()
    expect((await show(message_id)).messages[0]?.waits_for).toEqual(['It waits for a worker.'])
    await deliverAll(server)
    const steps = await stepsOf(message_id)
    expect(steps.map(({ step }) => step)).toEqual([
      ...['received', 'verified', 'checked', 'accepted', 'started', 'searched', 'replied', 'finished'],
      ...['attempt', 'next'],
    ])
    expect(steps.at(-2)).toMatchObject({ outcome: 'failed', code: 'http_5xx', status: 503, attempt: 1 })
    expect(steps.at(-1)).toMatchObject({ outcome: 'waiting', attempt: 2 })
  })

  test('is that of one participant and one registry where that is asked for', async () => {
    const message_id = await askNow()
    expect((await show(message_id, { participant: 'peer.example', namespace: 'civil' })).messages).toHaveLength(1)
    const nothing = 'nothing is stored of a message with this message_id'
    expect(await refused(show(message_id, { participant: 'other.example' }))).toBe(nothing)
    expect(await refused(show(message_id, { namespace: 'social' }))).toBe(nothing)
    expect(await refused(show('unknown'))).toBe(nothing)
  })

  test('of an exchange that is not stored any more is known from its audit entries', async () => {
    const message_id = await askNow()
    await server.database.db.pool.query('delete from exchange where message_id = $1', [message_id])
    expect((await stepsOf(message_id)).map(({ step }) => step)).toEqual([
      ...['received', 'verified', 'checked', 'searched', 'replied'],
    ])
  })
})

describe('bodies', () => {
  test('are opened after the access has an audit entry with its reason, which nobody reads in clear', async () => {
    peer.receiver.answer = answering(200)
    const message_id = await askLater()
    await deliverAll(server)
    const { bodies, more } = await openBodies(acting(deps()), { message_id, reason })
    expect([more, bodies.map(({ what, participant, problem }) => [what, participant, problem])]).toEqual([
      false,
      [
        ['request', 'peer.example', null],
        ['delivery', 'peer.example', null],
      ],
    ])
    expect(JSON.stringify(bodies[1]?.body)).toMatch(PERSON)
    const id = bodies[1]?.id ?? ''
    expect(await openDeliveryBody(acting(deps()), { id, namespace: 'civil', reason })).toEqual(bodies[1])
    const looks = (await storedEntries(server.database.db)).filter(({ entry }) => entry.kind === 'operator')
    expect(looks.map(({ entry }) => [entry.note, entry.operator, entry.registry])).toEqual([
      ['messages bodies', 'ada', 'civil'],
      ['deliveries body', 'ada', 'civil'],
    ])
    expect(JSON.stringify(looks)).not.toContain(reason)
    // Who asks about the person learns of the look.
    const { seen } = await auditPerson(acting(deps()), { type: 'UIN', value: '0012', confidential: true })
    const again = seen.filter(({ operator }) => operator === 'ada')
    expect(again.map(({ again: isAgain, reason: why }) => [isAgain, why])).toEqual([...[1, 2].map(() => [true, reason])])

    // A look at the attempts alone shows no person; one at the message does.
    const shell = { ...deps(), caller: { kind: 'shell', user: 'eve' } as const }
    await showDelivery(acting(shell), { id })
    expect((await showDelivery(acting(shell), { id, body: true })).body).toMatch(PERSON)
    const later = await auditPerson(acting(deps()), { type: 'UIN', value: '0012' })
    expect(later.seen.filter(({ operator }) => operator === 'eve')).toMatchObject([
      { kind: 'operator', note: 'deliveries show --body', registry: 'civil', again: true },
    ])
  })

  test('stay closed when no audit entry can be written', async () => {
    const message_id = await askLater()
    const auditLog = { ...memoryAuditLog(), write: () => Promise.reject(new Error('no audit log')) }
    await expect(openBodies(acting({ ...deps(), auditLog }), { message_id, reason })).rejects.toThrow('no audit log')
  })

  test('are refused without a reason, and where there is none', async () => {
    const message_id = await askNow()
    const auditLog = memoryAuditLog()
    const open = (input: object) => refused(openBodies(acting({ ...deps(), auditLog }), { message_id, reason, ...input }))
    expect(await open({ reason: undefined })).toMatch(/^reason: /)
    expect(await open({ reason: 'why' })).toMatch(/^reason: must have at least 5 characters/)
    expect(await open({ reason: '      ' })).toMatch(/^reason: /)
    expect(await open({})).toBe('no body of a message with this message_id is stored')
    expect(auditLog.written).toEqual([])
    const id = '3b241101-e2bb-4255-8caf-4136c566a962'
    expect(await refused(openDeliveryBody(acting({ ...deps(), auditLog }), { id, reason }))).toBe(
      'id: there is no delivery with this id',
    )
  })
})
