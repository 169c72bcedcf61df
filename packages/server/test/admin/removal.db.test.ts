import { AdminRefusal } from '@rollcall/admin/admin-function'
import { addHold, removeHold } from '@rollcall/admin/persons/holds'
import { PACKAGE_ROWS_TO_REMOVE, removeParticipant, removeRegistry } from '@rollcall/admin/removal'
import { liftWithdrawals, withdrawConsents } from '@rollcall/consents/store/withdrawals'
import type { Participant } from '@rollcall/core/model/participant'
import { SearchTimeout } from '@rollcall/core/model/record-source'
import type { Registry } from '@rollcall/core/model/registry'
import { openDatabase } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import type { Removable } from '@rollcall/database/removal'
import { listGrants } from '@rollcall/participants/store/grants'
import { addParticipantKey, listParticipantKeys, revokeParticipantKey } from '@rollcall/participants/store/participant-keys'
import { addParticipant, findParticipant } from '@rollcall/participants/store/participants'
import { createPeerKeys } from '@rollcall/participants/trust/peer-keys'
import { makeUnreadableRecords, setRegistryRecords } from '@rollcall/records/records/registry-records'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { publicKey } from '../../../core/test/key-pairs.ts'
import { insertSubscription } from '../../../delivery/test/subscriptions.ts'
import { memoryAuditLog } from '../../../settings/test/audit-log.ts'
import { officeSource } from '../../../source/test/office.ts'
import { bearer, post, searchRequest, type TestServer, testServer } from '../server.ts'

let server: TestServer
beforeAll(async () => {
  server = await testServer()
})
afterAll(() => server.close())

let [registry, participant]: [Registry?, Participant?] = []
let count = 0
let names = { namespace: '', sender_id: '' }
const auditLog = memoryAuditLog()
const deps = () => ({
  db: server.database.db,
  auditLog,
  caller: { kind: 'shell', user: 'ada' } as const,
  vault: server.context.vault,
  pause: async () => undefined,
})

/** A registry and a participant with an accepted request, a subscription, a row of the outbox and a key. */
beforeEach(async () => {
  count += 1
  names = { namespace: `civil-${count}`, sender_id: `spmis-${count}.example` }
  const { db } = server.database
  const person = { '@type': 'CRVS_Person', identifier: [{ identifier_type: 'UIN', identifier_value: 'P-1' }] }
  registry = await server.registry('civil', [person], names.namespace)
  const added = await server.participant(names.sender_id)
  participant = (await findParticipant(db, names.sender_id)) ?? undefined
  if (participant === undefined) throw new Error('there is no participant')
  await addParticipantKey(db, participant, await publicKey('Ed25519', { kid: 'sig-1' }))
  server.clock.pass(2_000)
  const header = { message_ts: new Date().toISOString() }
  const request = searchRequest(names.sender_id, { type: 'UIN', value: 'P-1' }, { header })
  const answer = await post(`${server.url}/${names.namespace}/v1.0.0/registry/search`, request, bearer(added))
  expect(answer.status).toBe(200)
  const client = await db.pool.connect()
  const filter = { event_type: 'Death', record_type: 'Person', participant: participant.id }
  await insertSubscription(client, registry.id, filter, '{}')
  client.release()
  await db.pool.query(`insert into rollcall_outbox.event (namespace, reg_event_type, record) values ($1, 'Death', '{}')`, [
    names.namespace,
  ])
})

const isThere = async (table: string, where: string, values: readonly unknown[]): Promise<boolean> => {
  const { rows } = await server.database.db.pool.query(`select from ${table} where ${where} limit 1`, [...values])
  return rows.length > 0
}

/** Tables that name a registry or participant by its number. */
async function tablesWith(removable: Removable): Promise<readonly string[]> {
  const { rows } = await server.database.db.pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = $1 and data_type = 'integer' order by table_name`,
    [removable],
  )
  return rows.map(({ name }) => name)
}

/** Tables that must stay: a stored withdrawal must hold for a later participant. */
const STAYING = ['consent_withdrawal', 'signed_consent']

const idOf = { registry: () => registry?.id, participant: () => participant?.id }

async function expectGone(removable: Removable): Promise<void> {
  const left = []
  for (const table of await tablesWith(removable)) {
    if (STAYING.includes(table)) continue
    if (await isThere(table, `${removable} = $1`, [idOf[removable]()])) left.push(table)
  }
  expect(left).toEqual([])
}

test('a preview counts what is pending, and changes nothing', async () => {
  const pending = { subscriptions: 1, requests: 1, deliveries: 0 }
  const { namespace, sender_id } = names
  expect(await removeRegistry(acting(deps()), { namespace, dry_run: true })).toEqual({
    namespace,
    dry_run: true,
    pending: { ...pending, outbox: 1 },
    stored: { grants: 1, subscriptions: 1, messages: 1, deliveries: 0, events: 0 },
    records: { Person: 1 },
  })
  expect(await removeParticipant(acting(deps()), { sender_id, dry_run: true })).toEqual({
    sender_id,
    dry_run: true,
    pending: { ...pending, outbox: 0 },
    // A grant in each registry of the server.
    stored: { grants: 1, secrets: 1, keys: 1, subscriptions: 1, messages: 1, deliveries: 0 },
  })
  expect(auditLog.written.map(({ entry }) => entry.note)).toEqual(['registry remove (dry run)', 'participant remove (dry run)'])
})

test('the records of a registry that is read live are not counted: all of them would be read', async () => {
  const { db } = server.database
  const namespace = 'live'
  const source = officeSource({ env: 'OFFICE' })
  const live = await addRegistry(db, { namespace, kind: 'civil', sender_id: 'live.example', source })
  setRegistryRecords(
    db,
    live,
    makeUnreadableRecords(() => Promise.reject(new SearchTimeout(10))),
  )
  expect(await removeRegistry(acting(deps()), { namespace, dry_run: true })).toMatchObject({ records: {} })
  expect(await removeRegistry(acting(deps()), { namespace })).toMatchObject({ records: {} })
})

test('what somebody waits for refuses it, and changes nothing', async () => {
  const { namespace, sender_id } = names
  await expect(removeRegistry(acting(deps()), { namespace })).rejects.toThrow(
    new AdminRefusal(
      `${namespace} is still in use (subscriptions 1, requests 1, outbox 1): let it end, or end it with --end (end in the input)`,
      { reason: 'conflict' },
    ),
  )
  await expect(removeParticipant(acting(deps()), { sender_id })).rejects.toThrow(
    new AdminRefusal(
      `${sender_id} is still in use (subscriptions 1, requests 1): let it end, or end it with --end (end in the input)`,
      { reason: 'conflict' },
    ),
  )
  expect((await findParticipant(server.database.db, sender_id))?.status).toBe('active')
})

test('a hold in force stops it: of a registry any one', async () => {
  const { namespace, sender_id } = names
  const { id } = await addHold(acting(deps()), { participant: sender_id, reason: 'case 12' })
  const refused = (name: string) =>
    new AdminRefusal(`hold ${id} is in force: nothing of ${name} is removed until it ends`, { reason: 'conflict' })
  await expect(removeRegistry(acting(deps()), { namespace, end: true })).rejects.toThrow(refused(namespace))
  await expect(removeParticipant(acting(deps()), { sender_id, end: true })).rejects.toThrow(refused(sender_id))
  await removeHold(acting(deps()), { id })
})

test('a registry goes with its records and all that names it, and the act has an audit entry', async () => {
  const { namespace } = names
  await removeRegistry(acting(deps()), { namespace, end: true })
  await expectGone('registry')
  const { db } = server.database
  const tables = await db.pool.query('select from pg_class where starts_with(relname, $1)', [`r${registry?.id}_`])
  expect(tables.rows).toEqual([])
  expect(await isThere('rollcall_outbox.event', 'namespace = $1', [namespace])).toBe(false)
  expect(auditLog.written.at(-1)?.entry).toMatchObject({ note: 'registry remove', registry: namespace })
  await expect(removeRegistry(acting(deps()), { namespace })).rejects.toThrow(
    new AdminRefusal(
      `there is no registry at ${namespace}; the nearest is civil-1; rollcall registry list shows those there are`,
    ),
  )
  // The name is free, and nothing is left behind it.
  await server.registry('civil', [], namespace)
})

test('a participant goes with all that names it; its public keys stay', async () => {
  const { sender_id } = names
  await removeParticipant(acting(deps()), { sender_id, end: true })
  await expectGone('participant')
  expect(await isThere('published_key', `sender_id = $1 and kid = 'sig-1'`, [sender_id])).toBe(true)
  expect(auditLog.written.at(-1)?.entry).toMatchObject({ note: 'participant remove', registry: null })
})

test.each(['registry', 'participant'] as const)(
  'a %s goes with the items of its requests before the requests',
  async (removable) => {
    const { namespace, sender_id } = names
    const owner = openDatabase(server.database.owner)
    await owner.pool.query(
      `insert into exchange_item (correlation_id, participant, position, reference_id, status)
      select correlation_id, participant, 0, 'r-0', 'succ' from accepted_exchange where ${removable} = $1`,
      [idOf[removable]()],
    )
    await owner.pool.query(`
    create function check_items() returns trigger language plpgsql as $$ begin
      if exists (select from exchange_item where correlation_id = old.correlation_id) then raise exception 'has items'; end if;
      return old;
    end $$;
    create trigger check_items before delete on accepted_exchange for each row execute function check_items()`)
    try {
      if (removable === 'registry') await removeRegistry(acting(deps()), { namespace, end: true })
      else await removeParticipant(acting(deps()), { sender_id, end: true })
      await expectGone(removable)
    } finally {
      await owner.pool.query('drop trigger check_items on accepted_exchange; drop function check_items()')
      await owner.close()
    }
  },
)

test.each(['registry', 'participant'] as const)('a %s goes, however many notifications it has', async (removable) => {
  const { namespace, sender_id } = names
  const owner = openDatabase(server.database.owner)
  await owner.pool.query(
    `with made as (
      insert into event (registry, event_type, record_type, record, record_version, occurred_at)
      values ($1, 'Death', 'Person', 1, 1, now()) returning id)
    insert into notification (mailbox, event, subscription, presence)
      select mailbox, made.id, subscription.id, 'entered' from subscription, made, generate_series(1, 5001)
      where subscription.registry = $1`,
    [registry?.id],
  )
  await owner.pool.query(`
    create function check_portion() returns trigger language plpgsql as $$ begin
      if (select count(*) > 5000 from portion) then raise exception 'too many at once'; end if;
      return null;
    end $$;
    create trigger check_portion after delete on notification referencing old table as portion
      for each statement execute function check_portion()`)
  try {
    if (removable === 'registry') await removeRegistry(acting(deps()), { namespace, end: true })
    else await removeParticipant(acting(deps()), { sender_id, end: true })
    await expectGone(removable)
  } finally {
    await owner.pool.query('drop trigger check_portion on notification; drop function check_portion()')
    await owner.close()
  }
})

test('what was refused to a removed participant is refused to the next one of its sender_id', async () => {
  const { sender_id } = names
  const { db } = server.database
  const [revoked, live] = [await publicKey('Ed25519', { kid: 'revoked' }), await publicKey('Ed25519', { kid: 'live' })]
  if (participant === undefined) throw new Error('there is no participant')
  await addParticipantKey(db, participant, revoked)
  await addParticipantKey(db, participant, live)
  const { revoked_at } = await revokeParticipantKey(db, participant, 'revoked')
  const person = { pseudonyms: [Buffer.from(sender_id)], purpose: 'pension' }
  await withdrawConsents(db, { ...person, participant: participant.id })
  await removeParticipant(acting(deps()), { sender_id, end: true })

  const refusal = new StoreRefusal('this key was revoked, and a revoked key cannot be registered again; make a new key')
  const other = await addParticipant(db, { sender_id: `other-${count}.example`, name: 'Other' })
  await expect(addParticipantKey(db, other, revoked)).rejects.toThrow(refusal)
  const again = await addParticipant(db, { sender_id, name: 'Again' })
  expect(await listParticipantKeys(db, again)).toMatchObject([
    { kid: 'revoked', thumbprint: revoked.thumbprint, participant: again.id, revoked_at },
  ])
  await expect(addParticipantKey(db, again, revoked)).rejects.toThrow(refusal)
  await expect(addParticipantKey(db, other, revoked)).rejects.toThrow(
    `this key belongs to ${sender_id} already, and a public key belongs to one participant`,
  )
  await addParticipantKey(db, again, live)
  expect(await isThere('consent_withdrawal', 'participant = $1 and lifted_at is null', [again.id])).toBe(true)

  // A second time, too.
  await removeParticipant(acting(deps()), { sender_id, end: true })
  const third = await addParticipant(db, { sender_id, name: 'Third' })
  expect((await listParticipantKeys(db, third)).map(({ kid }) => kid)).toEqual(['revoked'])
  expect(await liftWithdrawals(db.pool, { ...person, participant: third.id })).toBe(1)
})

test('a key that a removed participant had revoked is not accepted from a key set either', async () => {
  const { sender_id } = names
  const { db } = server.database
  const key = await publicKey('Ed25519', { kid: 'set-1' })
  if (participant === undefined) throw new Error('there is no participant')
  await addParticipantKey(db, participant, key)
  await revokeParticipantKey(db, participant, 'set-1')
  await removeParticipant(acting(deps()), { sender_id, end: true })
  const fresh = await publicKey('Ed25519', { kid: 'set-2' })
  const keySets = { fetchKeySet: async () => [key, fresh], log: { warn: () => undefined, error: () => undefined } }
  for (const name of [sender_id, `other-${count}.example`]) {
    const added = await addParticipant(db, { sender_id: name, name })
    const keys = createPeerKeys(db, { ...keySets, clock: server.clock })
    expect(await keys.verifying(added, 'set-1', 'EdDSA')).toEqual([])
    expect(await keys.verifying(added, 'set-2', 'EdDSA')).toHaveLength(1)
  }
})

test('what comes while servers follow refuses it too, and nothing is changed', async () => {
  const { namespace, sender_id } = names
  const { db } = server.database
  const grants = () => listGrants(db, { registry: registry?.id ?? 0 })
  // One that begins later is closed, too: else it would open the registry while it is removed.
  await db.pool.query(
    `with now_valid as (
      update participant_grant set valid_until = '2099-01-01' where registry = $1 returning participant, registry, terms)
    insert into participant_grant (participant, registry, terms, valid_from)
      select participant, registry, terms, '2099-01-01' from now_valid limit 1`,
    [registry?.id],
  )
  const before = await grants()
  expect(before.length).toBeGreaterThan(1)
  await db.pool.query('delete from rollcall_outbox.event')
  await db.pool.query(`update subscription set state = 'ended', reason = 'expired', ended_at = now()`)
  await db.pool.query(`delete from accepted_exchange`)
  const pause = async () => {
    await db.pool.query(`update subscription set state = 'live', reason = null, ended_at = null`)
  }
  await expect(removeParticipant(acting({ ...deps(), pause }), { sender_id })).rejects.toThrow(
    `${sender_id} is still in use (subscriptions 1)`,
  )
  expect((await findParticipant(db, sender_id))?.status).toBe('active')
  await db.pool.query(`update subscription set state = 'ended', reason = 'expired', ended_at = now()`)
  const paused = async () => {
    expect(await grants()).toEqual([])
    await pause()
  }
  await expect(removeRegistry(acting({ ...deps(), pause: paused }), { namespace })).rejects.toThrow(
    `${namespace} is still in use (subscriptions 1)`,
  )
  expect(await grants()).toEqual(before)
  await removeParticipant(acting(deps()), { sender_id, end: true })
  await removeRegistry(acting(deps()), { namespace, end: true })
  await expectGone('participant')
})

test.each(['registry', 'participant'] as const)('every table that names a %s is in the list', async (removable) => {
  const { rows } = await server.database.db.pool.query<{ name: string }>(
    `select conrelid::regclass::text as name from pg_constraint where contype = 'f' and confdeltype = 'c'`,
  )
  const cascading = rows.map(({ name }) => name)
  const listed = PACKAGE_ROWS_TO_REMOVE[removable].flatMap(({ removed }) => removed.map(({ table }) => table))
  const missing = (await tablesWith(removable)).filter((table) => ![...listed, ...cascading, ...STAYING].includes(table))
  expect(missing).toEqual([])
})
