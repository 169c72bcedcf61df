/** Our own keys as a running server uses them: as the database says, at most half a second old. */
import type { CryptoKey, JWK } from 'jose'
import type { Log } from '../observe/log.ts'
import { shortLived } from '../shared/short-lived.ts'
import type { Database } from '../store/db/database.ts'
import { keyOpener, type LiveKey } from './key-opener.ts'
import { MasterKeyError } from './master-key.ts'
import { OWN_KEY_ROWS, type SignatureKeyRow } from './own-key-rows.ts'
import { ensureOwnKeys } from './rotation.ts'
import type { Vault } from './vault.ts'

export interface SigningKey {
  readonly kid: string
  readonly algorithm: 'EdDSA'
  readonly privateKey: CryptoKey
}

export interface VerifyingKey {
  readonly kid: string
  readonly algorithm: 'EdDSA'
  readonly publicKey: CryptoKey
}

/** Keys that sign and verify. */
export interface Signers {
  /** The active key. */
  signing(): Promise<SigningKey>
  /** The live key with this kid; null for one that is unknown, expired or revoked. */
  verification(kid: string): Promise<VerifyingKey | null>
}

export interface Keys extends Signers {
  /** The private half of the live key with this kid that peers encrypt for; null as with `verification`. */
  decryption(kid: string): Promise<CryptoKey | null>
  /** The key set for peers (N14): exactly what verifies and decrypts; the key that signs first. */
  jwks(): Promise<{ readonly keys: readonly JWK[] }>
  /** The keys of access tokens, which peers never see. */
  readonly tokens: Signers
}

/** A change takes effect on every node within a second: this is half of that, the rest is slack. */
const MAX_AGE = 500

type LiveSigner = LiveKey & { readonly row: SignatureKeyRow }

/**
 * Makes the keys that are missing and opens all there are.
 * @throws MasterKeyError one does not open: the server must not start with less than it had
 */
export async function createKeys(db: Database, vault: Vault, log: Log): Promise<Keys> {
  await ensureOwnKeys(db, vault)
  const openKeys = keyOpener(db, vault, log)
  const { closed } = await openKeys()
  const [first] = closed
  if (first !== undefined) {
    throw new MasterKeyError(
      `the own key ${first} cannot be opened: its row was altered; rollcall keys revoke ${first} replaces it (docs/keys.md)`,
    )
  }
  const loaded = shortLived(async () => (await openKeys()).live, { maxAge: MAX_AGE })
  const live = (): Promise<readonly LiveKey[]> => loaded.get('all')

  const signers = (use: SignatureKeyRow['use']): Signers => {
    const ours = async (): Promise<readonly LiveSigner[]> =>
      (await live()).filter((key): key is LiveSigner => key.row.use === use)
    return {
      async signing() {
        const key = (await ours()).find(({ active }) => active)
        const privateKey = key?.material.privateKey ?? null
        if (key === undefined || privateKey === null) throw new Error(`there is no key to sign with (${use})`)
        return { kid: key.kid, algorithm: key.row.algorithm, privateKey }
      },
      async verification(kid) {
        const key = (await ours()).find((candidate) => candidate.kid === kid)
        return key === undefined
          ? null
          : { kid, algorithm: key.row.algorithm, publicKey: key.material.publicKey }
      },
    }
  }

  return {
    ...signers('sig'),
    tokens: signers('token'),
    async decryption(kid) {
      const key = (await live()).find((candidate) => candidate.row.use === 'enc' && candidate.kid === kid)
      return key?.material.privateKey ?? null
    },
    async jwks() {
      const all = await live()
      const published = OWN_KEY_ROWS.filter((row) => row.published)
      return {
        keys: published.flatMap((row) =>
          all
            .filter((key) => key.row === row)
            .map(({ kid, material }) => ({
              ...material.public_jwk,
              kid,
              use: row.use,
              alg: row.algorithm,
            })),
        ),
      }
    },
  }
}
