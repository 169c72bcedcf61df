/**
 * The keys of the audit log. One signs checkpoints, tombstones and evidence, one makes pseudonyms, one encrypts
 * confidential details. Missing ones are made when the keys are loaded, the last two only before there are entries. The
 * secrets are encrypted with the master key.
 */
import {
  createPrivateKey,
  createSecretKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  randomUUID,
  sign,
} from 'node:crypto'
import type { Database } from '@rollcall/database/database'
import { withCurrentMasterKey } from '@rollcall/keys/store/master-keys'
import type { Vault } from '@rollcall/keys/vault'
import { calculateJwkThumbprint } from 'jose'
import {
  type AuditKey,
  type AuditKeyKind,
  addAuditKey,
  hasAuditLogHadEntries,
  listAuditKeys,
  SEALED_AUDIT_KEY_TABLE,
} from './store/audit-keys.ts'

export interface AuditSigner {
  readonly kid: string
  /** Signs the UTF-8 bytes of a text with Ed25519. */
  sign(text: string): Buffer
}

export interface ConfidentialKey {
  readonly kid: string
  readonly key: KeyObject
}

export interface AuditKeys {
  readonly pseudonyms: KeyObject
  /** The key that encrypts confidential details. */
  readonly confidential: ConfidentialKey
  /** The active key with which the audit log signs. */
  readonly signer: AuditSigner
  /** The kids of the secret keys, as checkpoints have them. */
  readonly secrets: AuditSymmetricKeyKids
  /** The time at which each active key was made, by kid, in UTC with microseconds, for checkpoints; null: an infinite time. */
  readonly created: Readonly<Record<string, string | null>>
}

/** The kids of the two symmetric keys. The keys are never replaced: with others, earlier entries could not be found or read. */
export interface AuditSymmetricKeyKids {
  readonly pseudonym: string
  readonly confidential: string
}

const AUDIT_KEY_KINDS: readonly AuditKeyKind[] = ['signature', 'pseudonym', 'confidential']
const { table, purpose } = SEALED_AUDIT_KEY_TABLE

/**
 * Returns a function that loads the keys at its first call, and again after a failure.
 * @param vault is opened when the keys are loaded
 */
export function createAuditKeyLoader(db: Database, vault: () => Promise<Vault>): () => Promise<AuditKeys> {
  let loading: Promise<AuditKeys> | undefined
  return () => {
    loading ??= vault()
      .then((opened) => loadAuditKeys(db, opened))
      .catch((error: unknown) => {
        loading = undefined
        throw error
      })
    return loading
  }
}

/**
 * Loads the active keys, and makes the missing ones: a signature key at any time, the pseudonym key and the confidential key only
 * before there are entries.
 * @throws Error the pseudonym key or the confidential key is retired, or is missing although there are entries
 * @throws DecryptionError a key was altered, or the master key is another one
 */
export async function loadAuditKeys(db: Database, vault: Vault): Promise<AuditKeys> {
  const keys = await ensureCurrentKeys(db, vault)
  const keyOfKind = (kind: AuditKeyKind): AuditKey => {
    const key = keys.find((candidate) => candidate.kind === kind)
    if (key === undefined) throw new Error(`the audit log has no ${kind} key`)
    return key
  }
  const [signature, pseudonym, confidential] = [keyOfKind('signature'), keyOfKind('pseudonym'), keyOfKind('confidential')]
  return {
    pseudonyms: createSecretKey(await decryptAuditKey(vault, pseudonym)),
    confidential: { kid: confidential.kid, key: createSecretKey(await decryptAuditKey(vault, confidential)) },
    signer: await auditSignerOf(vault, signature),
    secrets: { pseudonym: pseudonym.kid, confidential: confidential.kid },
    created: Object.fromEntries(keys.map(({ kid, created }) => [kid, created])),
  }
}

async function auditSignerOf(vault: Vault, key: AuditKey): Promise<AuditSigner> {
  const jwk = JSON.parse((await decryptAuditKey(vault, key)).toString()) as JsonWebKey
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' })
  return { kid: key.kid, sign: (text) => sign(null, Buffer.from(text), privateKey) }
}

/**
 * Decrypts the secret of a key of the audit log, whatever its use.
 * @throws DecryptionError the row was altered, or the master key is another one; Error the key is erased
 */
export async function decryptAuditKey(vault: Vault, { kid, sealed }: AuditKey): Promise<Buffer> {
  if (sealed === null) throw new Error('a key of the audit log is erased')
  return vault.decrypt(purpose, { table, id: kid }, sealed)
}

async function ensureCurrentKeys(db: Database, vault: Vault): Promise<readonly AuditKey[]> {
  // Entries are looked for before the keys are read: if another process has just written one, its new keys are in the list.
  const audited = await hasAuditLogHadEntries(db)
  const all = await listAuditKeys(db)
  const current = (keys: readonly AuditKey[]) => keys.filter(({ retired_at }) => retired_at === null)
  const found = current(all)
  const lacking = AUDIT_KEY_KINDS.filter((kind) => found.every((key) => key.kind !== kind))
  if (lacking.length === 0) return found
  for (const kind of lacking) refuseKeyReplacement(kind, all, audited)
  await withCurrentMasterKey(async () => {
    for (const kind of lacking) {
      const { kid, public_key, secret } = await generateAuditKey(kind)
      const sealed = await vault.encrypt(purpose, { table, id: kid }, secret)
      await addAuditKey(db, { kid, kind, public_key, sealed })
    }
  })
  return current(await listAuditKeys(db))
}

/** Refuses to make a second secret key: with a new one, earlier entries could not be found or read. */
function refuseKeyReplacement(kind: AuditKeyKind, all: readonly AuditKey[], audited: boolean): void {
  if (kind === 'signature') return
  if (all.every((key) => key.kind !== kind) && !audited) return
  throw new Error(
    `the ${kind} key of the audit log is missing or retired, and must not be replaced: restore the table account_key from a backup`,
  )
}

interface GeneratedKey {
  readonly kid: string
  readonly public_key: object | null
  readonly secret: Buffer
}

async function generateAuditKey(kind: AuditKeyKind): Promise<GeneratedKey> {
  if (kind !== 'signature') return { kid: randomUUID(), public_key: null, secret: randomBytes(32) }
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const public_key = publicKey.export({ format: 'jwk' })
  // The kid is the RFC 7638 thumbprint of the key.
  const kid = await calculateJwkThumbprint(public_key as Parameters<typeof calculateJwkThumbprint>[0])
  return { kid, public_key, secret: Buffer.from(JSON.stringify(privateKey.export({ format: 'jwk' }))) }
}
