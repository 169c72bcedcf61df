/** Every act of the table is done once, and leaves exactly one entry, with its name and its caller. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type BaseActDeps, NO_APPROVAL_NEEDED } from '@rollcall/admin/act'
import { AdminRefusal } from '@rollcall/admin/admin-function'
import { createApprovalService } from '@rollcall/admin/approvals/approval'
import { listOwnKeys } from '@rollcall/admin/operators/own-keys'
import { addParticipantKeys } from '@rollcall/admin/participants/keys'
import { erasePerson } from '@rollcall/admin/persons/erase'
import { listHolds } from '@rollcall/admin/persons/holds'
import type { AuditEntry } from '@rollcall/core/model/audit-entry'
import { openDatabase } from '@rollcall/database/database'
import { saveCheck } from '@rollcall/participants/store/participant-checks'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, expect, test } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { adminFunctions } from '../../../admin/test/admin-functions.ts'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { subscribeLive } from '../../../delivery/test/subscriptions.ts'
import { auditEntry, storedEntries } from '../../../settings/test/audit-log.ts'
import { adminCaller } from '../admin-api.ts'
import { accepted, asyncPeer, byIdentifier, deliverAll, searchFor } from '../asynchronous.ts'
import { envelope, sendCallback } from '../inbox.ts'
import { actServer, uinOf } from '../proposed-act.ts'

// Evidence of a message needs a checkpoint after it.
const { server, db, query, peer, rowOf, jwk } = await actServer({ checkpoint_entries: 1 })
const owner = openDatabase(server.database.owner)
const folder = await mkdtemp(join(tmpdir(), 'rollcall-entries-'))
afterAll(async () => {
  await owner.close()
  await server.close()
  await rm(folder, { recursive: true })
})

const caller = await adminCaller(server)
const callerNamed = async (name: string) => {
  const operator = await server.context.operators.operatorOf(await caller.token(name, ['own']))
  if (operator === null) throw new Error('no such operator')
  return { kind: 'operator', operator } as const
}
const [ada, bea] = [await callerNamed('ada'), await callerNamed('bea')]

// The participants, records and messages that the acts name.
const asking = await asyncPeer(server, 'asking.example')
const asked = searchFor(asking, [byIdentifier('UIN', uinOf(0))])
await accepted(server, asking, asked)
await deliverAll(server)
const sent = (await query('select id, message_id from delivery where participant = $1', [asking.id])).rows[0]
const { message_id } = asked.header
const { sender_id: sandbox } = await peer({ environment: 'sandbox' })
const civil = await requireRegistry(db, 'civil')
const subscription = await subscribeLive(db, civil, 'MARRIAGE', undefined, { participant: asking.id })
const { code } = (await query('select code from subscription where id = $1', [subscription])).rows[0]
const inbound = envelope('notify', { header: { sender_id: asking.sender_id } })
await sendCallback(server, 'notify', inbound, asking)
await server.context.auditLog.write(auditEntry({ emergency: true }), [])
const emergency = (await storedEntries(db)).find(({ entry }) => entry.emergency)
const participant = await rowOf({ sender_id: sandbox })
const now = new Date()
const passed = { checked_at: now, version: '1', passed: true, steps: [] }
await saveCheck(db, { participant, registry: await requireRegistry(db, 'civil-test'), since: now }, passed)
const terms = { operations: 'all', see: 'all', basis: 'law' } as const
/** A proposal of ada's. */
async function proposal(act: (deps: typeof server.context & { owner: typeof db } & BaseActDeps) => Promise<unknown>) {
  const approvals = createApprovalService(server.context)
  const waiting = await act({ ...server.context, owner, caller: ada, approvals }).catch((error: unknown) => error)
  return (waiting as { readonly proposal: { readonly id: string } }).proposal.id
}
const key = () => proposal((deps) => addParticipantKeys(deps, { sender_id: sandbox, keys: jwk() }))

const fresh = { sender_id: 'new.example' }
const token = { name: 'eve' }
const [one, two] = [uinOf(1), uinOf(2)].map((value) => ({ identifier_type: 'UIN', identifier_value: value }))
const attribute = { namespace: 'civil', record_type: 'Person', name: 'hut' }
const authority = 'https://consents.example'
const withdrawn = { ...one, purpose: 'eligibility' }
const named = { type: 'UIN', value: uinOf(3) }

/** The smallest input of each act, by its function; in the order in which they are done. */
const INPUTS: Readonly<Record<string, object | (() => Promise<object>)>> = {
  addRegistry: { kind: 'social' },
  changeRegistry: { namespace: 'civil', majority_age: 21 },
  addAttribute: { ...attribute, paths: ['hut'], type: 'text' },
  indexAttribute: attribute,
  removeAttribute: attribute,
  addIdentifierType: { namespace: 'civil', name: 'CEDULA' },
  changeIdentifierType: { namespace: 'civil', name: 'CEDULA', aliases: ['id_card'] },
  removeIdentifierType: { namespace: 'civil', name: 'CEDULA' },
  applyIndexes: {},
  beginIndexBuild: { namespace: 'civil' },
  stopIndexBuild: { namespace: 'civil' },
  compareSource: { namespace: 'civil' },
  listSourceRejects: { namespace: 'civil' },
  removeRegistry: { namespace: 'social' },
  applyConfiguration: { configuration: { version: 1 } },
  addParticipant: { ...fresh, name: 'New' },
  allowParticipantHost: { ...fresh, host: 'a.internal' },
  removeParticipantHost: { ...fresh, host: 'a.internal' },
  changeCallback: { ...fresh, allow: ['https://203.0.113.7/in'] },
  testCallback: { sender_id: asking.sender_id },
  changeParticipantPolicy: { ...fresh, encryption_policy: 'refused' },
  changeParticipantLimits: { ...fresh, max_page_size: 10 },
  changeParticipantSubscriptions: { ...fresh, max_subscriptions: 5 },
  addParticipantKeys: { ...fresh, keys: jwk() },
  revokeParticipantKey: { ...fresh, kid: 'k-1' },
  rotateParticipantSecret: fresh,
  disableParticipant: fresh,
  enableParticipant: fresh,
  makePartnerLink: fresh,
  signPartnerOut: fresh,
  setGrant: { ...fresh, namespace: 'civil', terms },
  proposeGrant: { sender_id: asking.sender_id, namespace: 'civil', days: 30 },
  revokeGrant: { ...fresh, namespace: 'civil' },
  removeParticipant: { ...fresh, end: true },
  checkParticipant: { sender_id: sandbox, namespace: 'civil-test', since: now.toISOString() },
  trySearch: { sender_id: sandbox, namespace: 'civil-test', identifier: named, send: true },
  showProposal: async () => ({ id: await proposal((deps) => erasePerson(deps, { ...named, reason: 'an order' })) }),
  declineProposal: async () => ({ id: await key() }),
  approveProposal: async () => ({ id: await key() }),
  promoteParticipant: { sender_id: sandbox, keys: jwk('k-2') },
  addOperator: { ...token, roles: ['read'] },
  makeSignInLink: token,
  endSessions: token,
  revokeOperator: token,
  rotateOwnKeys: { use: 'sig' },
  revokeOwnKey: async () => ({ kid: (await listOwnKeys(server.context, {})).find(({ state }) => state === 'next')?.kid }),
  addPurpose: { code: 'loans' },
  removePurpose: { code: 'loans' },
  addConsentAuthority: { name: authority, keys: [{ ...keyPair('Ed25519').jwk, kid: 'c-1' }] },
  revokeConsents: { authority, revoked: ['jti-1'] },
  removeConsentAuthority: { name: authority },
  withdrawConsent: withdrawn,
  reinstateConsent: withdrawn,
  protectPerson: { namespace: 'civil', ...one, category: 'sealed', reason: 'an order' },
  listProtectedPersons: { namespace: 'civil' },
  unprotectPerson: { namespace: 'civil', ...one },
  showRecord: { namespace: 'civil', ...named },
  mergeRecords: { namespace: 'civil', survivor: one, retired: two },
  unmergeRecords: { namespace: 'civil', retired: two },
  deleteRecords: { namespace: 'civil', record_type: 'Person', identifiers: [uinOf(4)] },
  importRecords: { namespace: 'civil', format: 'ndjson' },
  publishEvent: { namespace: 'civil', reg_event_type: 'MARRIAGE', record: { identifier: [one] } },
  listEvents: { namespace: 'civil' },
  retryOutbox: {},
  showSubscription: { code },
  testSubscription: { code },
  backfillSubscription: { code },
  resumeSubscription: { code },
  cancelSubscription: { code },
  explainQuery: { namespace: 'civil', query: { sex: { eq: 'F' } } },
  traceMessages: { id: message_id },
  listMessages: {},
  showMessage: { message_id },
  openBodies: { message_id, reason: 'a complaint' },
  openDeliveryBody: { id: sent.id, reason: 'a complaint' },
  showDelivery: { id: sent.id },
  replayOwnDeliveries: { message_ids: [sent.message_id] },
  replayDeliveries: () => deliverAll(server).then(() => ({ ids: [sent.id] })),
  retryDeliveries: { ids: [sent.id] },
  cancelDeliveries: { ids: [sent.id] },
  changeDeliveries: { change: 'replay', ids: [sent.id] },
  listInbox: {},
  showInboxMessage: { message_id: inbound.header.message_id },
  listAuditEntries: {},
  listEmergencies: {},
  reviewEmergency: { id: `${emergency?.chain}.${emergency?.sequence}`, note: 'checked' },
  auditPerson: named,
  reportAccess: named,
  makeEvidence: { message_id },
  beginVerification: {},
  stopVerification: {},
  addHold: { participant: asking.sender_id, reason: 'a court' },
  listHolds: {},
  removeHold: async () => ({ id: (await listHolds(acting(server.context), {}))[0]?.id }),
  erasePerson: { ...named, reason: 'an order' },
  countPrunable: {},
  pruneStoredData: {},
  makeBackup: { file: join(folder, 'backup') },
  releaseRestored: {},
}

/** Acts that are not done here, by the reason. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'it replaces the database: its entry is the first of the new one (restore.db.test.ts)': [
    ...['adoptRestored', 'restoreDatabase'],
  ],
  'it needs a second master key (rotate-master.db.test.ts)': ['rotateMasterKey'],
}

const acts = (await adminFunctions()).flatMap(([name, made]) => (made.act === null ? [] : [[name, made] as const]))

test('each act is here', () => {
  const known = [...Object.keys(INPUTS), ...Object.values(ELSEWHERE).flat()]
  expect(known.toSorted()).toEqual(acts.map(([name]) => name).toSorted())
})

/** Why an act refuses its smallest input. Its entry was written before. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  makePartnerLink: /^the partner page is off/,
  checkParticipant: /^the messages of peer-\d+.example need not be signed/,
  endSessions: /^eve is not signed in$/,
  compareSource: /^civil has no source: its records are imported or written here$/,
  listSourceRejects: /^civil has no source: its records are imported or written here$/,
  resumeSubscription: /^code: the grant of its participant does not allow the subscription$/,
  releaseRestored: /^nothing is held: the database was not restored/,
}
/** Acts with more entries than one: the approval, and what was approved. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  approveProposal: ['proposal approve: participant key add', 'participant key add'],
}

test('each act leaves one entry', async () => {
  const entries: AuditEntry[] = []
  const auditLog: BaseActDeps['auditLog'] = {
    async write(entry, persons) {
      if (entry.kind === 'operator') entries.push(entry)
      await server.context.auditLog.write(entry, persons)
    },
  }
  const beside = { mayReplay: () => undefined, sender_id: asking.sender_id, source: Readable.from(['{}\n']), rejectsPath: null }
  const deps = { ...server.context, owner, auditLog, approvals: NO_APPROVAL_NEEDED, ...beside }
  const functions = new Map(acts)
  for (const [name, given] of Object.entries(INPUTS)) {
    const made = functions.get(name)
    if (made === undefined) throw new Error(`no act ${name}`)
    const input = typeof given === 'function' ? await given() : given
    entries.length = 0
    const isOwn = name === 'replayOwnDeliveries'
    const by = isOwn ? ({ kind: 'participant', sender_id: asking.sender_id } as const) : bea
    const call = made as unknown as (deps: object, input: object) => Promise<unknown>
    const end = await call({ ...deps, caller: by }, input).then(
      () => 'done',
      (error: unknown) => (error instanceof AdminRefusal ? error.message : error),
    )
    expect.soft([name, end]).toEqual([name, REFUSED[name] ? expect.stringMatching(REFUSED[name]) : 'done'])
    const notes = MORE[name] ?? [expect.stringContaining(made.act?.name.replace(' --dry-run', '') ?? '')]
    expect.soft([name, entries.map(({ note }) => note)]).toEqual([name, notes])
    const named = entries.map(({ operator, participant: sender, approved_by = null }) => operator ?? sender ?? approved_by)
    const [expected] = isOwn ? [asking.sender_id] : name in MORE ? ['ada'] : ['bea']
    expect.soft([name, new Set(named)]).toEqual([name, new Set([expected])])
  }
})
