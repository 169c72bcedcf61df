/** Checks the stored keys of the audit log, and verifies signatures with them. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { DecryptionError } from '@rollcall/keys/encrypted-value'
import type { Vault } from '@rollcall/keys/vault'
import { calculateJwkThumbprint } from 'jose'
import type { CheckpointContent } from '../checkpoints.ts'
import { decryptAuditKey } from '../keys.ts'
import type { AuditKey } from '../store/audit-keys.ts'
import type { VerificationReport } from './report.ts'

export interface SignedText {
  readonly content: string
  readonly kid: string
  readonly signature: Buffer
}

export interface Verifier {
  isSigned(text: SignedText): boolean
  /** Reports keys that contradict a signed checkpoint: a secret that it names is missing, or a key was made at another time. */
  checkKeys(content: Pick<CheckpointContent, 'keys' | 'keys_created'>): void
  /** The kids of the keys whose signatures were found valid so far. */
  readonly used: ReadonlySet<string>
}

/** The kinds of keys that have no public part. */
const SYMMETRIC_KEY_KINDS = ['pseudonym', 'confidential'] as const

/** Creates the verifier. @param vault null: no master key, so nobody checks whether the stored keys are our own */
export async function createVerifier(
  keys: readonly AuditKey[],
  vault: Vault | null,
  report: VerificationReport,
): Promise<Verifier> {
  const known = new Map<string, KeyObject>()
  const used = new Set<string>()
  const missing = new Set<string>()
  const redated = new Set<string>()
  const secrets = keys.filter(({ kind }) => kind !== 'signature')
  for (const key of secrets) {
    if (!(await isSecretActiveAndDecryptable(key, vault))) report.fault('key_changed', null, null, key.kid)
  }
  for (const kind of keys.length === 0 ? [] : SYMMETRIC_KEY_KINDS) {
    if (secrets.every((key) => key.kind !== kind)) report.fault('key_missing', null, null, kind)
  }
  for (const key of keys) {
    if ((key.public_key !== null) !== (key.kind === 'signature')) report.fault('key_changed', null, null, key.kid)
    if (key.public_key === null) continue
    // The server never retires a key of the audit log, so a retired key is a fault. Its signatures are still verified with it.
    if (key.retired_at !== null) report.fault('key_changed', null, null, key.kid)
    if (await isSignatureKeyOfAuditLog(key, vault)) known.set(key.kid, createPublicKey({ key: key.public_key, format: 'jwk' }))
    else report.fault('key_changed', null, null, key.kid)
  }
  return {
    used,
    checkKeys({ keys: named = {}, keys_created = {} }) {
      for (const [kid, created] of Object.entries(keys_created)) {
        const key = keys.find((candidate) => candidate.kid === kid)
        if (key === undefined || key.created === created || redated.has(kid)) continue
        redated.add(kid)
        report.fault('key_changed', null, null, kid)
      }
      for (const [kind, kid] of Object.entries(named)) {
        if (missing.has(kid) || secrets.some((key) => key.kind === kind && key.kid === kid)) continue
        missing.add(kid)
        report.fault('key_missing', null, null, `${kind} ${kid}`)
      }
    },
    isSigned({ content, kid, signature }) {
      const key = known.get(kid)
      if (key === undefined || !verify(null, Buffer.from(content), key, signature)) return false
      used.add(kid)
      return true
    },
  }
}

/** True when a secret is active and the master key, if a vault is given, decrypts it, which proves its kid. */
async function isSecretActiveAndDecryptable(key: AuditKey, vault: Vault | null): Promise<boolean> {
  if (key.retired_at !== null) return false
  if (vault === null) return true
  try {
    await decryptAuditKey(vault, key)
    return true
  } catch (error) {
    if (error instanceof DecryptionError) return false
    throw error
  }
}

/** True when a stored key is a public Ed25519 key. Who can write the table may have inserted anything. */
function isEd25519({ public_key }: AuditKey): boolean {
  try {
    return createPublicKey({ key: public_key ?? {}, format: 'jwk' }).asymmetricKeyType === 'ed25519'
  } catch {
    return false
  }
}

async function isSignatureKeyOfAuditLog(key: AuditKey, vault: Vault | null): Promise<boolean> {
  const thumbprint = await calculateJwkThumbprint(key.public_key ?? {}).catch(() => null)
  if (thumbprint !== key.kid || !isEd25519(key) || key.sealed === null) return false
  if (vault === null) return true
  try {
    const jwk = JSON.parse((await decryptAuditKey(vault, key)).toString()) as { readonly x?: string }
    return jwk.x === key.public_key?.x
  } catch (error) {
    if (error instanceof DecryptionError) return false
    throw error
  }
}
