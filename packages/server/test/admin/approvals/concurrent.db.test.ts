/**
 * What an approval decided holds when its act commits. Each act that may widen is begun while another node narrows what it was
 * decided by: it waits for that node, and then for a second operator, or is refused.
 */
import { createApprovalService } from '@rollcall/admin/approvals/approval'
import { approveProposal } from '@rollcall/admin/approvals/proposals'
import { changeCallback } from '@rollcall/admin/callbacks/callbacks'
import { applyConfiguration } from '@rollcall/admin/configuration/apply'
import { addConsentAuthority } from '@rollcall/admin/consents/authorities'
import { setGrant } from '@rollcall/admin/grants/grant-changes'
import { addParticipantKeys } from '@rollcall/admin/participants/keys'
import { enableParticipant, rotateParticipantSecret } from '@rollcall/admin/participants/participants'
import { allowParticipantHost, changeParticipantPolicy } from '@rollcall/admin/participants/policy'
import { promoteParticipant } from '@rollcall/admin/participants/promote'
import { erasePerson } from '@rollcall/admin/persons/erase'
import { mergeRecords } from '@rollcall/admin/records/merge'
import { changeRegistry } from '@rollcall/admin/registries/registries'
import { openDatabase } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import { saveCheck } from '@rollcall/participants/store/participant-checks'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, expect, test, vi } from 'vitest'
import { APPROVABLE_ACTS } from '../../../../admin/src/approvals/acts.ts'
import { acting } from '../../../../admin/test/acting.ts'
import { keyPair } from '../../../../core/test/key-pairs.ts'
import { adminCaller } from '../../admin-api.ts'
import { LOOPBACK } from '../../deliveries.ts'
import { actServer, type OperatorDeps, uinOf } from '../../proposed-act.ts'

const { server, db, peer, rowOf, jwk, fresh } = await actServer()
const owner = openDatabase(server.database.owner)
afterAll(async () => {
  await owner.close()
  await server.close()
})
const caller = await adminCaller(server)
const { limits, clock } = server.context
const byOperator = async (name: string): Promise<OperatorDeps> => {
  const operator = await server.context.operators.operatorOf(await caller.token(name, ['own']))
  if (operator === null) throw new Error('no such operator')
  return { ...server.context, owner, caller: { kind: 'operator', operator }, approvals: createApprovalService({ limits, clock }) }
}
const [ada, bea] = [await byOperator('ada'), await byOperator('bea')]

interface Raced {
  /** The act, which changes nothing as long as nobody else does. */
  readonly act: () => Promise<unknown>
  /** The change that the other node makes. */
  readonly narrowed: string | (() => Promise<unknown>)
  /** The lock that the other node holds meanwhile. Default: that of the settings. */
  readonly locked?: string
}

const proposed = async (act: Promise<unknown>): Promise<string> => {
  const waiting = await act.then(
    () => expect.fail('it is done'),
    (error: { proposal: { id: string } }) => error,
  )
  return waiting.proposal.id
}

const HOST = { host: 'spmis.internal', ports: [8443] }
const WAITS = /waits for a second operator, as proposal /
const CHANGED = /^what is stored has changed since it was proposed: propose it again$/

const RACES: Readonly<Record<string, () => Promise<Raced & { readonly ends: RegExp }>>> = {
  async 'grant set'() {
    const terms = { operations: 'all', see: 'all', basis: 'law' } as const
    const { sender_id } = await peer({}, terms)
    const { id } = await rowOf({ sender_id })
    return {
      act: () => setGrant(ada, { sender_id, namespace: 'civil', terms }),
      narrowed: `update participant_grant set revoked_at = now() where participant = ${id}`,
      ends: WAITS,
    }
  },
  async 'participant policy'() {
    const { sender_id } = await peer()
    const policy = { signature_policy: 'if-present', allow_unsigned: true } as const
    return {
      act: () => changeParticipantPolicy(ada, { sender_id, ...policy }),
      narrowed: `update participant set signature_policy = 'required', allow_unsigned = false where sender_id = '${sender_id}'`,
      ends: WAITS,
    }
  },
  async 'participant host allow'() {
    const { sender_id } = await peer({ outgoing: [HOST] })
    return {
      act: () => allowParticipantHost(ada, { sender_id, ...HOST }),
      narrowed: `update participant set outgoing = '[]' where sender_id = '${sender_id}'`,
      ends: WAITS,
    }
  },
  async 'participant callback'() {
    const { sender_id } = await peer({ outgoing: [LOOPBACK] })
    const { id } = await rowOf({ sender_id })
    const given = { sender_id, allow: ['http://127.0.0.1:9/in'] }
    await changeCallback(acting(server.context), given)
    return {
      act: () => changeCallback(ada, given),
      narrowed: `update participant_callback set allowed = '{}' where participant = ${id}`,
      ends: WAITS,
    }
  },
  async 'participant enable'() {
    const { sender_id } = await peer()
    return {
      act: () => enableParticipant(ada, { sender_id }),
      narrowed: `update participant set status = 'disabled' where sender_id = '${sender_id}'`,
      ends: WAITS,
    }
  },
  async 'participant secret rotate'() {
    const { sender_id } = await peer({ signature_policy: 'required', allow_unsigned: false })
    return {
      act: () => rotateParticipantSecret(ada, { sender_id }),
      narrowed: `update participant set signature_policy = 'off', allow_unsigned = true where sender_id = '${sender_id}'`,
      ends: WAITS,
    }
  },
  async 'registry set'() {
    return {
      act: () => changeRegistry(ada, { namespace: 'civil-test', majority_age: 18 }),
      narrowed: `update registry set majority_age = 21 where namespace = 'civil-test'`,
      ends: WAITS,
    }
  },
  async 'consent authority add'() {
    const input = { name: `https://raced-${fresh()}.example`, keys: [{ ...keyPair('Ed25519').jwk, kid: 'c-1' }] }
    await addConsentAuthority(acting(server.context), input)
    return {
      act: () => addConsentAuthority(ada, input),
      narrowed: `update consent_authority set removed_at = now() where name = '${input.name}'`,
      ends: WAITS,
    }
  },
  async apply() {
    const { sender_id } = await peer({ outgoing: [HOST] })
    const configuration = { version: 1, participants: { [sender_id]: { hosts: [HOST] } } }
    return {
      act: () => applyConfiguration(ada, { configuration }),
      narrowed: `update participant set outgoing = '[]' where sender_id = '${sender_id}'`,
      ends: CHANGED,
    }
  },
  async 'erase person'() {
    const [survivor, retired] = [uinOf(0), uinOf(1)].map((value) => ({ identifier_type: 'UIN', identifier_value: value }))
    if (survivor === undefined || retired === undefined) throw new Error('no person')
    const input = { type: 'UIN', value: survivor.identifier_value, reason: 'an order' }
    const waiting = await proposed(erasePerson(ada, input))
    return {
      act: () => approveProposal(bea, { id: waiting }),
      locked: 'lock table hold in row exclusive mode',
      // From now on the person has the identifiers of both.
      narrowed: () => mergeRecords(acting(server.context), { namespace: 'civil', survivor, retired }),
      ends: CHANGED,
    }
  },
  async 'participant key add'() {
    const { sender_id } = await peer()
    const { id } = await rowOf({ sender_id })
    await addParticipantKeys(acting(server.context), { sender_id, keys: jwk() })
    const waiting = await proposed(addParticipantKeys(ada, { sender_id, keys: jwk('k-2') }))
    return {
      act: () => approveProposal(bea, { id: waiting }),
      narrowed: `update participant_key set revoked_at = now() where participant = ${id}`,
      ends: CHANGED,
    }
  },
  async 'participant promote'() {
    const { sender_id } = await peer({ environment: 'sandbox' })
    const [participant, registry] = [await rowOf({ sender_id }), await requireRegistry(db, 'civil-test')]
    const now = new Date()
    const check = { checked_at: now, version: '1', passed: true, steps: [] }
    await saveCheck(db, { participant, registry, since: now }, check)
    const waiting = await proposed(promoteParticipant(ada, { sender_id, keys: jwk() }))
    return {
      act: () => approveProposal(bea, { id: waiting }),
      narrowed: `update participant set jwks_uri = 'https://203.0.113.9/keys' where sender_id = '${sender_id}'`,
      ends: CHANGED,
    }
  },
}

/** Acts whose decision does not hang on what is stored, by the reason. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  'the input alone decides': [
    ...['participant add', 'operator add', 'deliveries show', 'inbox show', 'messages bodies'],
    ...['deliveries body', 'subscriptions backfill', 'record unprotect', 'consent reinstate', 'registry add'],
  ],
  'the statement that changes them counts them': ['deliveries change', 'deliveries replay'],
  'a number of a hold is given out once': ['hold remove'],
}

test('each act that may wait is here', () => {
  const known = [...Object.keys(RACES), ...Object.values(OTHERS).flat()]
  expect(known.toSorted()).toEqual(APPROVABLE_ACTS.map(({ act }) => act.name).toSorted())
})

const isWaiting = async (): Promise<boolean> => {
  const { rows } = await owner.pool.query(
    `select from pg_locks join pg_database on pg_database.oid = database
      where not granted and datname = current_database()`,
  )
  return rows.length > 0
}

test.each(Object.keys(RACES))('%s does not undo what another node narrows at the same time', async (name) => {
  const raced = await RACES[name]?.()
  if (raced === undefined) throw new Error('no row')
  let ended = Promise.resolve<unknown>('not begun')
  await withTransaction(owner.pool, async (other) => {
    await other.query(raced.locked ?? `select pg_advisory_xact_lock(hashtext('rollcall settings'), 0)`)
    ended = raced.act().then(
      () => 'done',
      (error: Error) => error.message,
    )
    const early = ended.then((end) => expect.fail(`it did not wait: ${end}`))
    await Promise.race([early, vi.waitFor(async () => expect(await isWaiting()).toBe(true), { timeout: 30_000, interval: 10 })])
    early.catch(() => undefined)
    await (typeof raced.narrowed === 'string' ? other.query(raced.narrowed) : raced.narrowed())
  })
  expect(await ended).toMatch(raced.ends)
})

test('acts that wait for each other leave the connections of the node to what they wait for', async () => {
  const { sender_id } = await peer()
  const acts = Array.from({ length: 25 }, (_, index) =>
    allowParticipantHost(acting(server.context), { sender_id, host: `h-${index}.internal` }),
  )
  await Promise.all(acts)
  expect((await rowOf({ sender_id })).outgoing).toHaveLength(25)
})
