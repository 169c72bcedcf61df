/** Evidence of the audit entries of a message. It is verified without the database. */

import { firstPreviousHash } from '@rollcall/audit/chain'
import type { CheckpointContent } from '@rollcall/audit/checkpoints'
import { Evidence, signedEvidenceText } from '@rollcall/audit/evidence'
import { listAuditKeys } from '@rollcall/audit/store/audit-keys'
import {
  type EntryPlace,
  type EntrySigningCheckpoint,
  findEntryHash,
  findEntrySigningCheckpoints,
  findPlacesOfMessage,
  readHashedEntries,
} from '@rollcall/audit/store/evidence'
import { createVerifier, type Verifier } from '@rollcall/audit/verify/keys'
import { newReport } from '@rollcall/audit/verify/report'
import type { StoredAuditEntry } from '@rollcall/core/model/audit-entry'
import { messageIdKey } from '@rollcall/core/model/exchange'
import { readPublishedKeys } from '@rollcall/keys/own-keys'
import { listParticipantKeys } from '@rollcall/participants/store/participant-keys'
import { findParticipant } from '@rollcall/participants/store/participants'
import { listEvidenceKeys } from '@rollcall/participants/store/published-keys'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasVault } from '../deps.ts'
import { closed, isoTime, text } from '../members.ts'
import { auditKeysOf } from './facts.ts'

/** The most audit entries of one message: those of its request, its acknowledgement and the pages of its answer. */
const MOST_ENTRIES = 100

type EntryProof = Evidence['accounts'][number]
type EvidenceKey = Evidence['keys'][number]

/**
 * Makes evidence of a message: its audit entries, each with the later entries of its chain up to a checkpoint. The signature of
 * the checkpoint covers the hashes of these entries. In place of each person, the evidence has a hash (a commitment).
 */
export const makeEvidence = defineAct(
  {
    name: 'audit evidence',
    approval: 'never',
    input: closed({
      message_id: text('message_id of a request, or of our reply.'),
      participant: Type.Optional(text('sender_id, where several participants have used this message_id.')),
    }),
    result: Type.Unsafe<Evidence>(Evidence),
  },
  async (deps: HasVault & { readonly now?: () => Date }, { message_id, participant }): Promise<Evidence> => {
    const { db, now = () => new Date() } = deps
    const key = messageIdKey(message_id)
    const places = await findPlacesOfMessage(db, key, participant, MOST_ENTRIES + 1)
    if (places.length === 0)
      throw new AdminRefusal('no message with this message_id is in the audit log', { reason: 'not_found' })
    if (new Set(places.map((place) => place.participant)).size > 1) {
      throw new AdminRefusal('participant: several have used this message_id; name one', { reason: 'conflict' })
    }
    if (places.length > MOST_ENTRIES) {
      throw new AdminRefusal(`more than ${MOST_ENTRIES} entries are of this message; evidence has at most so many`)
    }
    const accounts: EntryProof[] = []
    const { isSigned } = await createVerifier(await listAuditKeys(db), await deps.vault(), newReport())
    for (const place of places) accounts.push(await proveEntry(deps, place, isSigned))
    const { signer } = await auditKeysOf(deps)
    const kids = new Set([signer.kid, ...accounts.map(({ checkpoint }) => checkpoint.kid)])
    const keys = [...(await findAuditKeys(deps, kids)), ...(await findMessageKeys(deps, accounts))]
    const made_at = isoTime(now())
    const evidence = { version: 1 as const, made_at, message_id: key, accounts, keys, kid: signer.kid }
    return { ...evidence, signature: signer.sign(signedEvidenceText(evidence)).toString('base64url') }
  },
)

/** Proves an entry of the audit log: returns it and those after it, up to the checkpoint that signs them. */
async function proveEntry({ db }: Pick<HasVault, 'db'>, place: EntryPlace, isSigned: Verifier['isSigned']): Promise<EntryProof> {
  const { chain, sequence } = place
  const signed = await findSignedCheckpoint(
    findEntrySigningCheckpoints(db, place),
    (row) => isSigned(row) && isCheckpointOf(row, chain),
  )
  if (signed === null) {
    throw new AdminRefusal('no checkpoint signs this message yet; try again in a moment', { reason: 'conflict' })
  }
  const previous =
    sequence === 1 ? firstPreviousHash(chain).toString('hex') : await findEntryHash(db, { chain, sequence: sequence - 1 })
  const entries = await readHashedEntries(db, place, signed.sequence)
  if (previous === null || entries.length !== signed.sequence - sequence + 1) {
    throw new AdminRefusal('entries that the evidence needs are missing; rollcall audit verify says which')
  }
  const { content, kid, signature } = signed
  const checkpoint = { content, kid, signature: signature.toString('base64url') }
  return { chain, previous, entries: [...entries], checkpoint }
}

/** Returns the first checkpoint that `isGood` accepts; null: none. So rows that another database role inserted are skipped. */
async function findSignedCheckpoint(
  rows: AsyncIterable<EntrySigningCheckpoint>,
  isGood: (row: EntrySigningCheckpoint) => boolean,
): Promise<EntrySigningCheckpoint | null> {
  for await (const row of rows) if (isGood(row)) return row
  return null
}

/** True when the content of a checkpoint names this chain, and the sequence number in its row. The caller verifies signatures. */
function isCheckpointOf({ content, sequence }: EntrySigningCheckpoint, chain: string): boolean {
  const checkpointContent = JSON.parse(content) as CheckpointContent
  return checkpointContent.chain === chain && checkpointContent.sequence === sequence
}

async function findAuditKeys({ db }: Pick<HasVault, 'db'>, kids: ReadonlySet<string>): Promise<readonly EvidenceKey[]> {
  return (await listAuditKeys(db)).flatMap(({ kid, public_key, created_at, retired_at }) =>
    public_key === null || !kids.has(kid)
      ? []
      : [
          {
            kid,
            use: 'account' as const,
            owner: null,
            jwk: { ...public_key },
            valid_from: isoTime(created_at),
            valid_until: isoTime(retired_at),
          },
        ],
  )
}

/** Milliseconds of tolerance: an hour, because the last use of a published key is exact to an hour, and a minute for clocks. */
const KEY_USE_TOLERANCE_MS = 3_660_000

/**
 * Finds the public keys, the participant's and ours, that signed the request or the reply of each entry. A key that a
 * participant published must have been in use when the entry was written.
 */
async function findMessageKeys({ db, vault }: HasVault, accounts: readonly EntryProof[]): Promise<readonly EvidenceKey[]> {
  const entries = accounts.flatMap(({ entries: [first] }) =>
    first === undefined ? [] : [{ ...(JSON.parse(first.entry) as StoredAuditEntry), at: Date.parse(first.at) }],
  )
  const kids = new Set(entries.flatMap(({ request, reply }) => [request?.kid, reply?.kid]))
  const found: EvidenceKey[] = []
  for (const sender_id of new Set(entries.flatMap(({ participant }) => participant ?? []))) {
    const participant = await findParticipant(db, sender_id)
    const registered = participant === null ? [] : await listParticipantKeys(db, participant)
    for (const { kid, public_jwk, valid_from, valid_until, revoked_at } of registered) {
      if (!kids.has(kid)) continue
      const times = { valid_from: isoTime(valid_from), valid_until: isoTime(revoked_at ?? valid_until) }
      found.push({ kid, use: 'message', owner: sender_id, jwk: { ...public_jwk }, ...times })
    }
    const times = entries.filter((entry) => entry.participant === sender_id).map(({ at }) => at)
    for (const { kid, public_jwk, first_used_at, last_used_at } of await listEvidenceKeys(db, sender_id)) {
      const [from, until] = [first_used_at.getTime() - KEY_USE_TOLERANCE_MS, last_used_at.getTime() + KEY_USE_TOLERANCE_MS]
      if (!kids.has(kid) || !times.some((at) => from <= at && at <= until)) continue
      const used = { valid_from: isoTime(first_used_at), valid_until: isoTime(last_used_at) }
      found.push({ kid, use: 'message', owner: sender_id, jwk: { ...public_jwk }, ...used })
    }
  }
  const own = await readPublishedKeys(db, await vault())
  for (const { kid, ...jwk } of own) {
    if (kid === undefined || !kids.has(kid)) continue
    found.push({ kid, use: 'message', owner: null, jwk, valid_from: null, valid_until: null })
  }
  return found
}
