/** Doing the acts of the journal again, in a database that was restored. Each may be done any number of times. */
import type { AccountSigner } from '../accounts/keys.ts'
import { revokeOwnKey } from '../keys/rotation.ts'
import type { Vault } from '../keys/vault.ts'
import type { Limits } from '../limits.ts'
import type { JournalAct, JournalKind } from '../model/journal.ts'
import { findAuthority, removeAuthority } from '../store/consents/authorities.ts'
import { revokeSigned, stopOfAuthority, withdraw } from '../store/consents/withdrawals.ts'
import type { Database } from '../store/db/database.ts'
import { StoreRefusal } from '../store/db/refusal.ts'
import { changeGrants } from '../store/directory/grants.ts'
import { revokeOperatorToken } from '../store/directory/operator-tokens.ts'
import { revokeParticipantKey } from '../store/directory/participant-keys.ts'
import { findParticipant, retireSecrets, setParticipantStatus } from '../store/directory/participants.ts'
import { eraseNotifications } from '../store/events/erasing.ts'
import { destroyKeysOf } from '../store/keys/body-keys.ts'
import { forgetTombstones } from '../store/records/forget-tombstones.ts'
import { findRegistry } from '../store/registries/registries.ts'
import { erasePseudonyms } from './erase.ts'
import { protectPerson } from './protected-persons.ts'
import { deleteRecords } from './records.ts'
import { removeAgain } from './removal.ts'
import { AdminRefusal } from './use-case.ts'

export interface ApplyNeeds {
  readonly db: Database
  readonly owner: Database
  readonly vault: Vault
  readonly signer: AccountSigner
  readonly limits: Limits
  readonly now: () => Date
}

type Act<Kind extends JournalKind> = Extract<JournalAct, { readonly kind: Kind }>

/** Whatever an act names may be missing: it was made after the snapshot, or an earlier act has removed it. */
const APPLY: { readonly [Kind in JournalKind]: (needs: ApplyNeeds, act: Act<Kind>) => Promise<unknown> } = {
  day_keys_destroyed: ({ db }, { days }) => destroyKeysOf(db, days),
  person_erased: erasePerson,
  async records_deleted({ db, limits, now }, { registry, record_type, identifiers }) {
    if ((await findRegistry(db, registry)) === null) return
    await deleteRecords({ db, limits, now }, { namespace: registry, record_type, identifiers })
  },
  async person_protected({ db }, { registry, identifier_type, identifier_value, category, reason }) {
    if ((await findRegistry(db, registry)) === null) return
    const given = { namespace: registry, identifier_type, identifier_value, category, reason }
    await protectPerson({ db }, given).catch(passOver('conflict'))
  },
  async consents_revoked({ db }, { authority, jtis }) {
    const found = await findAuthority(db, authority)
    if (found !== null) await revokeSigned(db, found.id, jtis)
  },
  async consent_withdrawn({ db }, { pseudonyms, purpose, participant }) {
    const from = participant === null ? null : await findParticipant(db, participant)
    if (participant !== null && from === null) return
    await withdraw(db, {
      pseudonyms: pseudonyms.map((pseudonym) => Buffer.from(pseudonym, 'hex')),
      ...{ purpose, participant: from?.id ?? null },
    })
  },
  async authority_removed({ db }, { authority }) {
    const id = await removeAuthority(db.pool, authority)
    if (id !== null) await stopOfAuthority(db, id)
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
  async participant_key_revoked({ db }, { participant: sender_id, kid }) {
    const participant = await findParticipant(db, sender_id)
    if (participant !== null) await revokeParticipantKey(db, participant, kid).catch(passOverRefusal)
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
  operator_revoked: ({ db }, { name }) => revokeOperatorToken(db, name),
  async removed({ db }, { removable, name }) {
    const found = await (removable === 'registry' ? findRegistry : findParticipant)(db, name)
    if (found !== null) await removeAgain(db, removable, found.id)
  },
  own_key_revoked: ({ db, vault }, { kid }) => revokeOwnKey(db, vault, kid).catch(passOverRefusal),
}

async function erasePerson(needs: ApplyNeeds, act: Act<'person_erased'>): Promise<void> {
  const { db } = needs
  const pseudonyms = act.pseudonyms.map((pseudonym) => Buffer.from(pseudonym, 'hex'))
  await erasePseudonyms(needs, pseudonyms, act.reason)
  for (const { registry, record_type, record } of act.records) {
    const found = await findRegistry(db, registry)
    if (found !== null) await eraseNotifications(db.pool, { registry: found.id, record_type, record })
  }
  for (const { registry, record_type, primary_identifier } of act.forgotten) {
    const found = await findRegistry(db, registry)
    if (found !== null)
      await forgetTombstones(db.pool, { registry: found.id, record_type, primary_identifier })
  }
}

/** Does an act again. */
export function applyAct<Kind extends JournalKind>(needs: ApplyNeeds, act: Act<Kind>): Promise<unknown> {
  const apply: ((needs: ApplyNeeds, act: Act<Kind>) => Promise<unknown>) | undefined = Object.hasOwn(
    APPLY,
    act.kind,
  )
    ? APPLY[act.kind as Kind]
    : undefined
  if (apply === undefined) {
    throw new StoreRefusal(
      'the journal has acts that this version does not know: use the version that wrote it',
    )
  }
  return apply(needs, act)
}

const passOver = (reason: string) => (error: unknown) => {
  if (!(error instanceof AdminRefusal) || error.reason !== reason) throw error
}

function passOverRefusal(error: unknown): void {
  if (!(error instanceof StoreRefusal)) throw error
}
