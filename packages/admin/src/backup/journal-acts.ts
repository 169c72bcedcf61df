/** Repeats in a restored database the acts that the journal has, such as erasures. Each can be repeated any number of times. */

import type { AuditSigner } from '@rollcall/audit/keys'
import { lockHolds } from '@rollcall/audit/store/prune-entries'
import type { ActsToRepeat } from '@rollcall/backup/journal/read-journal'
import { ensureAuthorityId, removeAuthority, repeatStricterAuthorityAct } from '@rollcall/consents/store/authorities'
import { consentsSignedBy, revokeSignedConsents, withdrawConsents } from '@rollcall/consents/store/withdrawals'
import type { Limits } from '@rollcall/core/limits'
import { hostsNotIn } from '@rollcall/core/model/allowed-hosts'
import type { JournalAct, JournalKind } from '@rollcall/core/model/journal'
import type { Database } from '@rollcall/database/database'
import { removeHoldsExcept } from '@rollcall/database/holds'
import { StoreRefusal } from '@rollcall/database/refusal'
import { stopUsesOfEndedConsents } from '@rollcall/delivery/store/events/consent-stopping'
import { eraseNotifications } from '@rollcall/delivery/store/events/erasing'
import { revokeOwnKey } from '@rollcall/keys/rotation'
import { destroyBodyKeysOfDays } from '@rollcall/keys/store/body-keys'
import { listOwnKeys } from '@rollcall/keys/store/own-keys'
import type { Vault } from '@rollcall/keys/vault'
import { retireSecrets } from '@rollcall/participants/store/client-secrets'
import { changeGrants } from '@rollcall/participants/store/grants'
import { revokeOperatorToken } from '@rollcall/participants/store/operator-tokens'
import { listParticipantKeys, revokeParticipantKey, storeRevokedKey } from '@rollcall/participants/store/participant-keys'
import { findParticipant, setMessagePolicy, setParticipantStatus } from '@rollcall/participants/store/participants'
import { forgetDeletionTraces } from '@rollcall/records/records/forget-traces'
import { findRegistry } from '@rollcall/records/registries/registries'
import { AdminRefusal, toAdminRefusal } from '../admin-function.ts'
import { makeParticipantLive } from '../participants/promote.ts'
import { erasePseudonyms } from '../persons/erase.ts'
import { repeatJournalProtection } from '../persons/protected-persons.ts'
import { listRecordAndRetiredIds } from '../persons/with-merged.ts'
import { deleteNamedRecords } from '../records/records.ts'
import { repeatRemoval } from '../removal.ts'

export interface JournalRepeatDeps {
  readonly db: Database
  readonly owner: Database
  readonly vault: Vault
  readonly signer: AuditSigner
  readonly limits: Limits
  readonly now: () => Date
}

type JournalActOf<Kind extends JournalKind> = Extract<JournalAct, { readonly kind: Kind }>

type ActRepeater<Kind extends JournalKind> = (deps: JournalRepeatDeps, act: JournalActOf<Kind>, at: Date) => Promise<unknown>

/**
 * How each kind of act is repeated. The restored database may lack what an act names, such as a registry: it was added after the
 * backup, or an earlier act has removed it. Then some kinds do nothing. Some store the effect, such as a revoked key, for when
 * it is added again. Others throw AdminRefusal, because the operator must add it first.
 */
const ACT_REPEATERS: { readonly [Kind in JournalKind]: ActRepeater<Kind> } = {
  day_keys_destroyed: ({ db }, { days }) => destroyBodyKeysOfDays(db, days),
  person_erased: erasePerson,
  async records_deleted({ db, limits, now }, { registry, record_type, identifiers, silent }) {
    if ((await findRegistry(db, registry)) === null) return
    const isEvent = silent !== true
    await deleteNamedRecords({ db, limits, now }, { namespace: registry, record_type, identifiers, isEvent })
  },
  person_protected: ({ db }, act) => repeatJournalProtection(db, act),
  async consents_revoked({ db }, { authority, jtis }) {
    await stopUsesOfEndedConsents(db, await revokeSignedConsents(db, await ensureAuthorityId(db.pool, authority), jtis))
  },
  async consent_withdrawn({ db }, { pseudonyms, purpose, participant }) {
    const from = participant === null ? null : await findParticipant(db, participant)
    if (participant !== null && from === null) throw missingParticipantRefusal(participant)
    const withdrawn = await withdrawConsents(db, {
      pseudonyms: pseudonyms.map((pseudonym) => Buffer.from(pseudonym, 'hex')),
      purpose,
      participant: from?.id ?? null,
    })
    await stopUsesOfEndedConsents(db, withdrawn)
  },
  async authority_removed({ db }, { authority }) {
    const id = await removeAuthority(db.pool, authority)
    if (id !== null) await stopUsesOfEndedConsents(db, consentsSignedBy(id))
  },
  async grants_revoked({ db }, { participant: sender_id, registry: namespace, grants }) {
    const [participant, registry] = [await findParticipant(db, sender_id), await findRegistry(db, namespace)]
    if (participant === null || registry === null) return
    await changeGrants(db, { participant, registry }, { revoke: grants ?? 'all', add: [] })
  },
  async participant_disabled({ db }, { participant }) {
    if ((await findParticipant(db, participant)) === null) return
    await setParticipantStatus(db, participant, 'disabled')
  },
  async participant_key_revoked({ db }, { participant: sender_id, kid, key }) {
    const participant = await findParticipant(db, sender_id)
    if (key !== undefined) return storeRevokedKey(db, { id: participant?.id ?? null, sender_id }, key)
    if (participant === null) return
    const keys = await listParticipantKeys(db, participant)
    if (keys.some((key) => key.kid === kid && key.revoked_at === null)) await revokeParticipantKey(db, participant, kid)
  },
  async secrets_retired({ db }, { participant: sender_id, secrets }) {
    const participant = await findParticipant(db, sender_id)
    if (participant === null) return
    await retireSecrets(
      db,
      participant,
      secrets.map((secret) => Buffer.from(secret, 'hex')),
    )
  },
  async participant_promoted({ db }, { participant: sender_id, keys, former, jwks_uri, secret }) {
    const participant = await findParticipant(db, sender_id)
    if (participant?.environment !== 'sandbox') return
    const promotion = { keys, former, jwks_uri, sha256: Buffer.from(secret, 'hex') }
    await makeParticipantLive(db, participant, promotion)
  },
  async policy_tightened({ db }, { participant: sender_id, policy, hosts }) {
    const participant = await findParticipant(db, sender_id)
    if (participant === null) return
    const outgoing = hostsNotIn(participant.outgoing, hosts)
    await setMessagePolicy(db, sender_id, { ...policy, outgoing })
  },
  authority_tightened: ({ db }, act) => repeatStricterAuthorityAct(db, act),
  operator_revoked: ({ db }, { name }) => revokeOperatorToken(db, name),
  async removed({ db }, { removable, name }) {
    const found = await (removable === 'registry' ? findRegistry : findParticipant)(db, name)
    if (found !== null) await repeatRemoval(db, removable, found.id)
  },
  async own_key_revoked({ db, vault }, { kid }) {
    if ((await listOwnKeys(db)).some((key) => key.kid === kid)) await revokeOwnKey(db, vault, kid)
  },
}

const missingParticipantRefusal = (sender_id: string): AdminRefusal =>
  new AdminRefusal(
    `${sender_id} was added after the backup, and a person withdrew a consent from it: add it again (rollcall participant add)`,
  )

/** Erases a person again. First removes each hold made before `at` that is not in `act.holds`: the hold had ended by then. */
async function erasePerson(deps: JournalRepeatDeps, act: JournalActOf<'person_erased'>, at: Date): Promise<void> {
  const { db, owner } = deps
  await removeHoldsExcept(db, { except: act.holds, made_before: at, removed_by: 'restore' })
  const pseudonyms = act.pseudonyms.map((pseudonym) => Buffer.from(pseudonym, 'hex'))
  await owner.kysely.transaction().execute(async (transaction) => {
    await lockHolds(transaction)
    await erasePseudonyms(transaction, deps, pseudonyms, act.reason)
  })
  for (const { registry, record_type, record } of act.records) {
    const found = await findRegistry(db, registry)
    const recordType = found?.kind.record_types.find(({ name }) => name === record_type)
    if (found === null || recordType === undefined) continue
    // Acts of earlier versions have a number as the id of a record.
    const records = await listRecordAndRetiredIds(db, found, recordType, String(record))
    await eraseNotifications(db.pool, { registry: found.id, record_type, records })
  }
  for (const { registry, record_type, primary_identifier } of act.forgotten) {
    const found = await findRegistry(db, registry)
    if (found !== null) await forgetDeletionTraces(db.pool, { registry: found.id, record_type, primary_identifier })
  }
}

/** Acts of one kind that could not be repeated, for the same reason. */
export interface UnrepeatedActs {
  readonly kind: string
  /** Why the acts could not be done: the message of the refusal, which has no personal data. */
  readonly rule: string
  readonly acts: number
}

/** Repeats acts of the journal in order. A refused act does not stop the others. @returns the refused acts */
export async function repeatJournalActs(deps: JournalRepeatDeps, acts: ActsToRepeat['acts']): Promise<readonly UnrepeatedActs[]> {
  const undone = new Map<string, UnrepeatedActs>()
  for (const { at, act } of acts) {
    const rule = await repeatOneAct(deps, act, new Date(at)).then(() => null, refusalMessage)
    if (rule === null) continue
    const key = `${act.kind} ${rule}`
    undone.set(key, { kind: act.kind, rule, acts: (undone.get(key)?.acts ?? 0) + 1 })
  }
  return [...undone.values()]
}

async function repeatOneAct<Kind extends JournalKind>(deps: JournalRepeatDeps, act: JournalActOf<Kind>, at: Date): Promise<void> {
  const apply: ActRepeater<Kind> | undefined = Object.hasOwn(ACT_REPEATERS, act.kind)
    ? ACT_REPEATERS[act.kind as Kind]
    : undefined
  if (apply === undefined) {
    throw new StoreRefusal('this version does not know this kind of act: use the version that wrote it')
  }
  await apply(deps, act, at)
}

/** Returns the message of a refusal. @throws any other error: the operator then runs the restore again */
function refusalMessage(error: unknown): string {
  const refusal = toAdminRefusal(error)
  if (refusal instanceof AdminRefusal) return refusal.message
  throw error
}

export const countUnrepeatedActs = (undone: readonly UnrepeatedActs[]): number =>
  undone.reduce((count, { acts }) => count + acts, 0)

/**
 * Checks that every act of the journal was repeated: that the list of acts which could not be repeated is empty.
 * @throws AdminRefusal names the acts that could not be repeated
 */
export function checkAllActsRepeated(undone: readonly UnrepeatedActs[]): void {
  if (undone.length === 0) return
  const all = undone.map(({ kind, rule, acts }) => `${kind} ${acts} (${rule})`).join('; ')
  throw new AdminRefusal(
    `acts of the journal could not be done: ${all}. Servers do not start. Add what is missing and run the same command again, ` +
      'or accept that they are not done with --accept-undone',
    { reason: 'conflict' },
  )
}
