/** Verifies that the audit log is complete and unchanged, and lists the keys that sign it. */

import { listAuditKeys } from '@rollcall/audit/store/audit-keys'
import { FAULT_TEXTS, type FaultKind, type VerificationReport } from '@rollcall/audit/verify/report'
import { verifyAuditLog } from '@rollcall/audit/verify/verify'
import { MasterKeyError } from '@rollcall/keys/master-key'
import type { Vault } from '@rollcall/keys/vault'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase, HasVault } from '../deps.ts'
import { closed, flag, instant, isoTime, NO_INPUT, orNull, text, wholeNumber } from '../members.ts'

interface HasWitnessLines extends HasVault {
  /** The lines of the witness, each a copy of a checkpoint, all written before the call; null: nothing is compared. */
  readonly witness: AsyncIterable<string> | null
}

const ChainId = text('Id of a chain.')
const AUDIT_FAULT_KINDS = Object.keys(FAULT_TEXTS) as FaultKind[]

/** The result of a verification of the audit log. */
export const Verification = closed({
  good: flag('Whether nothing was found.'),
  counts: closed({
    chains: wholeNumber('Chains, one or more of each process.'),
    entries: wholeNumber('Entries.'),
    persons: wholeNumber('Rows of persons.'),
    erased: wholeNumber('Rows of persons that a tombstone says were erased.'),
    pruned: wholeNumber('Entries that a tombstone says were pruned.'),
    checkpoints: wholeNumber('Checkpoints.'),
    tombstones: wholeNumber('Tombstones.'),
    reviews: wholeNumber('Reviews of emergencies.'),
    unsealed_reviews: wholeNumber(
      'Of the reviews, those of earlier versions: nothing says whether their operator and their time were changed.',
    ),
    witnessed: wholeNumber('Checkpoints of the witness.'),
  }),
  fault_count: wholeNumber('How many faults there are.'),
  faults: Type.Array(
    closed({
      kind: oneOf(AUDIT_FAULT_KINDS, { description: 'What it is.' }),
      meaning: text('What that means.'),
      chain: orNull(ChainId),
      sequence: orNull(wholeNumber('The first entry that it is about.')),
      detail: orNull(text('More of it.')),
    }),
    { description: 'The first faults.' },
  ),
  unsigned: wholeNumber('Entries at the ends of chains that no checkpoint signs.'),
  unsigned_tails: Type.Array(
    closed({
      chain: ChainId,
      from: wholeNumber('The first entry.'),
      to: wholeNumber('The last entry.'),
      at: instant('Time of the last entry.'),
    }),
    { description: 'The largest of these ends.' },
  ),
  restores: Type.Array(
    closed({
      at: instant('When the database was restored.'),
      snapshot_at: instant('The time whose state it had then: audit entries from then until the restore are lost.'),
      backup: orNull(text('Id of the backup; null: it was restored by other means.')),
      reason: text('Why.'),
      journal: orNull(wholeNumber('Acts of the journal that were applied; null: it was renounced.')),
      open: Type.Array(closed({ chain: ChainId, sequence: wholeNumber('The last entry that is there.') }), {
        description: 'Chains that had not ended: what followed these entries is lost.',
      }),
      witnessed: wholeNumber('Checkpoints of the witness that are missing for this reason.'),
    }),
    { description: 'Restores of the database, as their signed entries say. They are no faults.' },
  ),
  keys: Type.Array(Type.String(), { description: 'Fingerprints of the keys that signed.' }),
  own_keys: flag('Whether these keys were compared with their private halves, for which the master key is needed.'),
})

/** Verifies the whole audit log, as it is at one moment, in little memory. A running server goes on meanwhile. */
export const verifyWholeAuditLog = defineAdminFunction({ input: NO_INPUT, result: Verification }, async (deps: HasWitnessLines) =>
  runVerification(deps),
)

/** Verifies the audit log. @param watched a report to fill while the work runs, to show progress, and a signal to stop it */
export async function runVerification(
  { db, vault, witness }: HasWitnessLines,
  watched: { readonly report?: VerificationReport; readonly signal?: AbortSignal } = {},
) {
  const opened = await vaultIfAny(vault)
  const { report, keys } = await verifyAuditLog({ db, vault: opened, witness, ...watched })
  return {
    good: report.faultCount === 0,
    counts: report.counts,
    fault_count: report.faultCount,
    faults: report.faults.map((fault) => ({ ...fault, meaning: FAULT_TEXTS[fault.kind] })),
    unsigned: report.unsigned,
    unsigned_tails: [...report.tails],
    restores: report.restores,
    keys: [...keys],
    own_keys: opened !== null,
  }
}

/** Opens the vault; null without a master key: somebody who verifies for the operator may have none. */
async function vaultIfAny(vault: () => Promise<Vault>): Promise<Vault | null> {
  try {
    return await vault()
  } catch (error) {
    if (error instanceof MasterKeyError) return null
    throw error
  }
}

/** Lists the keys that sign the audit log, also retired ones, the oldest first. Their public halves are never deleted. */
export const listAuditSigningKeys = defineAdminFunction(
  {
    input: NO_INPUT,
    result: Type.Array(
      closed({
        fingerprint: text('RFC 7638 thumbprint of the public key: its kid.'),
        public_key: closed({ kty: text('OKP.'), crv: text('Ed25519.'), x: text('The public key, as base64url.') }),
        created_at: instant('When it was made.'),
        retired_at: orNull(instant('When another took its place.')),
      }),
    ),
  },
  async ({ db }: HasDatabase) =>
    (await listAuditKeys(db)).flatMap(({ kid, public_key, created_at, retired_at }) =>
      public_key === null
        ? []
        : [
            {
              fingerprint: kid,
              public_key: { kty: 'OKP', crv: 'Ed25519', x: public_key.x },
              created_at: isoTime(created_at),
              retired_at: isoTime(retired_at),
            },
          ],
    ),
)
