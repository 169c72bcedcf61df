/** Our own keys, and the master key that encrypts them. */

import { SEALED_AUDIT_KEY_TABLE } from '@rollcall/audit/store/audit-keys'
import type { MasterKeySource } from '@rollcall/keys/master-key'
import { OWN_KEY_DEFINITIONS } from '@rollcall/keys/own-key-definitions'
import { revokeOwnKey as revoke, rotateOwnKeys as rotate } from '@rollcall/keys/rotation'
import { listOwnKeys as listRows, type OwnKey } from '@rollcall/keys/store/own-keys'
import { rotateMasterKey as rotateMaster } from '@rollcall/keys/vault'
import { SEALED_CREDENTIAL_TABLE } from '@rollcall/participants/store/participant-callbacks'
import { SEALED_PROPOSAL_TABLE } from '@rollcall/participants/store/proposals'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase, HasVault } from '../deps.ts'
import { closed, instant, isoTime, NO_INPUT, orNull, text, wholeNumber } from '../members.ts'

export { KEY_SET_CACHE_SECONDS } from '@rollcall/keys/own-key-definitions'

export const OWN_KEY_USES = [...new Set(OWN_KEY_DEFINITIONS.map(({ use }) => use))]
const OwnKeyUse = oneOf(OWN_KEY_USES, {
  description: 'sig signs messages, enc is what peers encrypt for, token signs access tokens.',
})
const Kid = text('kid of the key.')
const Algorithm = text('JOSE name of its algorithm.')

const KeyResult = closed({
  kid: Kid,
  use: text('What it is for: sig, enc or token.'),
  algorithm: Algorithm,
  state: oneOf(['next', 'active', 'retired', 'revoked'], {
    description: 'next: published and not yet in use; retired: still good until good_until.',
  }),
  created_at: instant('When it was made.'),
  activated_at: orNull(instant('When it came into use.')),
  retired_at: orNull(instant('When another took its place.')),
  good_until: orNull(instant('Of a retired key: until when it is good.')),
  revoked_at: orNull(instant('When it was revoked.')),
})

/** Lists our own keys, the newest first. */
export const listOwnKeys = defineAdminFunction({ input: NO_INPUT, result: Type.Array(KeyResult) }, async ({ db }: HasDatabase) =>
  (await listRows(db)).map(shownOwnKey),
)

/** Starts to use the next keys; running servers follow within a second, without refusing any message. */
export const rotateOwnKeys = defineAct(
  {
    name: 'keys rotate',
    approval: 'never',
    input: closed({ use: Type.Optional(OwnKeyUse) }),
    result: Type.Array(
      closed({
        use: OwnKeyUse,
        algorithm: Algorithm,
        retired: text('kid of the key that was in use.'),
        active: text('kid of the key that is in use now.'),
        next: text('kid of the key that comes next.'),
        published_for: Type.Number({ description: 'Seconds that the active key had been published before.' }),
      }),
    ),
  },
  async ({ db, vault }: HasVault, { use }) => rotate(db, await vault(), (row) => use === undefined || row.use === use),
)

/** Revokes a key: within a second no server takes it any more, and its private half is erased. */
export const revokeOwnKey = defineAct(
  { name: 'keys revoke', approval: 'never', input: closed({ kid: Kid }), result: KeyResult },
  async ({ db, vault }: HasVault, { kid }) => {
    const opened = await vault()
    return shownOwnKey(await db.journal.write({ kind: 'own_key_revoked', kid }, () => revoke(db, opened, kid)))
  },
)

/** The tables outside of the package keys that have values encrypted with the master key. */
export const SEALED_TABLES_BESIDE_KEYS = [SEALED_AUDIT_KEY_TABLE, SEALED_CREDENTIAL_TABLE, SEALED_PROPOSAL_TABLE]

/** Replaces the master key: all values that it encrypted are encrypted with the new one. */
export const rotateMasterKey = defineAct(
  {
    name: 'keys rotate-master',
    approval: 'never',
    input: NO_INPUT,
    result: closed({
      version: wholeNumber('Version of the master key.'),
      resealed: wholeNumber('Values that were encrypted with the new master key.'),
    }),
  },
  async ({ db, masterKey }: HasDatabase & { readonly masterKey: MasterKeySource }) =>
    rotateMaster(db, masterKey, SEALED_TABLES_BESIDE_KEYS),
)

function shownOwnKey(key: OwnKey) {
  const { kid, use, algorithm, state } = key
  return {
    kid,
    use,
    algorithm,
    state,
    created_at: isoTime(key.created_at),
    activated_at: isoTime(key.activated_at),
    retired_at: isoTime(key.retired_at),
    good_until: state === 'retired' ? isoTime(key.expires_at) : null,
    revoked_at: isoTime(key.revoked_at),
  }
}
