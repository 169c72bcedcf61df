/** The evidence of a message's audit entries: who has the public key can verify it without the database. */
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import type { StoredAuditEntry } from '@rollcall/core/model/audit-entry'
import type { ReadOnly } from '@rollcall/core/model/read-only'
import { canonicalJson, validator } from '@rollcall/protocol'
import { calculateJwkThumbprint } from 'jose'
import Type, { type Static } from 'typebox'
import { entryHash } from './chain.ts'
import type { CheckpointContent } from './checkpoints.ts'

const closedObject = <Properties extends Parameters<typeof Type.Object>[0]>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })
const TextSchema = Type.String()
const HexadecimalSchema = Type.String({ pattern: '^(?:[0-9a-f]{2})*$' })
const SIGNATURE_MEMBERS = { kid: TextSchema, signature: Type.String({ pattern: '^[A-Za-z0-9_-]{86}$' }) } as const

/** The schema of an evidence file. The type `Evidence` below is made from it. */
export const Evidence = closedObject({
  version: Type.Literal(1),
  made_at: TextSchema,
  /** The message_id of the message, in its stored form (`messageIdKey`). */
  message_id: TextSchema,
  /** Each entry of the message, followed by the later entries up to the checkpoint that signs them. */
  accounts: Type.Array(
    closedObject({
      chain: TextSchema,
      /** The hash of the entry before the first of `entries`, in hexadecimal. */
      previous: HexadecimalSchema,
      entries: Type.Array(
        closedObject({
          sequence: Type.Integer({ minimum: 1 }),
          at: TextSchema,
          entry: TextSchema,
          commitments: HexadecimalSchema,
        }),
        { minItems: 1 },
      ),
      checkpoint: closedObject({ content: TextSchema, ...SIGNATURE_MEMBERS }),
    }),
    { minItems: 1 },
  ),
  /** The public keys. `use` is `account` for checkpoints and this evidence, `message` for messages in the entries. */
  keys: Type.Array(
    closedObject({
      kid: TextSchema,
      use: Type.Union([Type.Literal('account'), Type.Literal('message')]),
      owner: Type.Union([TextSchema, Type.Null()], { description: 'sender_id; null: ours.' }),
      jwk: Type.Record(TextSchema, Type.Unknown()),
      valid_from: Type.Union([TextSchema, Type.Null()]),
      valid_until: Type.Union([TextSchema, Type.Null()]),
    }),
  ),
  ...SIGNATURE_MEMBERS,
})
export type Evidence = ReadOnly<Static<typeof Evidence>>

/** The text that the signature of an evidence covers: all members but the signature. */
export function signedEvidenceText(evidence: Omit<Evidence, 'signature'> & Partial<Pick<Evidence, 'signature'>>): string {
  const { signature: _, ...rest } = evidence
  return canonicalJson(rest)
}

/** An entry that is proven by evidence. */
export interface VerifiedEvidenceEntry {
  readonly chain: string
  readonly sequence: number
  readonly at: string
  readonly entry: StoredAuditEntry
}

/** The evidence is not valid. The message names the first fault. */
export class EvidenceFault extends Error {
  override readonly name = 'EvidenceFault'
}

const evidenceValidator = validator(Evidence)

/** Verifies an evidence. @returns the message's entries, and the kids of the keys that signed @throws EvidenceFault */
export async function checkEvidence(
  given: unknown,
): Promise<{ readonly accounts: readonly VerifiedEvidenceEntry[]; readonly kids: readonly string[] }> {
  const problem = evidenceValidator.problem(given, 'evidence')
  if (problem !== null) throw new EvidenceFault(problem)
  const evidence = given as Evidence
  const keys = await readAuditKeysOfEvidence(evidence)
  const check = (kid: string, text: string, signature: string, what: string): void => {
    const key = keys.get(kid)
    if (key === undefined) throw new EvidenceFault(`${what}: its key is not in the evidence`)
    const bytes = Buffer.from(signature, 'base64url')
    // Only the one canonical spelling of a signature is accepted.
    const isSame = bytes.toString('base64url') === signature
    if (!isSame || !verify(null, Buffer.from(text), key, bytes)) throw new EvidenceFault(`${what}: the signature does not verify`)
  }
  check(evidence.kid, signedEvidenceText(evidence), evidence.signature, 'evidence')
  const accounts = evidence.accounts.map((account, at) => {
    const { content, kid, signature } = account.checkpoint
    check(kid, content, signature, `accounts[${at}].checkpoint`)
    return checkEntryProof(evidence.message_id, account, `accounts[${at}]`)
  })
  const kids = [evidence.kid, ...evidence.accounts.map(({ checkpoint }) => checkpoint.kid)]
  return { accounts, kids: [...new Set(kids)] }
}

/** The audit log's keys in the evidence, by kid. A kid must be the RFC 7638 thumbprint: who trusts the kid trusts the key. */
async function readAuditKeysOfEvidence({ keys }: Evidence) {
  const found = new Map<string, ReturnType<typeof createPublicKey>>()
  for (const [at, { kid, use, jwk }] of keys.entries()) {
    if (use !== 'account') continue
    try {
      const thumbprint = await calculateJwkThumbprint(jwk as JsonWebKey & { kty: string })
      // `verify` would throw an error of OpenSSL for a key that cannot sign, such as X25519.
      if (jwk.crv !== 'Ed25519' || thumbprint !== kid) throw new Error('kid')
      found.set(kid, createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }))
    } catch {
      throw new EvidenceFault(`keys[${at}]: kid is not the fingerprint of an Ed25519 key`)
    }
  }
  return found
}

function checkEntryProof(
  message_id: string,
  { chain, previous, entries, checkpoint }: Evidence['accounts'][number],
  where: string,
): VerifiedEvidenceEntry {
  const [first] = entries
  if (first === undefined) throw new EvidenceFault(`${where}: has no entry`)
  let hash: Buffer = Buffer.from(previous, 'hex')
  for (const [at, { commitments, ...row }] of entries.entries()) {
    if (row.sequence !== first.sequence + at) throw new EvidenceFault(`${where}: an entry is missing`)
    hash = entryHash(hash, { chain, ...row, commitments: Buffer.from(commitments, 'hex') })
  }
  const content = JSON.parse(checkpoint.content) as CheckpointContent
  const last = first.sequence + entries.length - 1
  if (content.chain !== chain || content.sequence !== last || content.hash !== hash.toString('hex')) {
    throw new EvidenceFault(`${where}: the checkpoint signs other entries`)
  }
  const entry = JSON.parse(first.entry) as StoredAuditEntry
  if (entry.request?.message_id !== message_id && entry.reply?.message_id !== message_id) {
    throw new EvidenceFault(`${where}: the entry is of another message`)
  }
  return { chain, sequence: first.sequence, at: first.at, entry }
}
