/** A consent authority of tests, with consents that it signs. */

import { addConsentAuthority } from '@rollcall/admin/consents/authorities'
import { CompactSign, importJWK } from 'jose'
import { keyPair } from '../../core/test/key-pairs.ts'
import type { TestDatabase } from '../../keys/test/postgres.ts'
import { acting } from './acting.ts'

export const AUTHORITY = 'https://consent.example'

export interface Signing {
  readonly header?: object
  readonly key?: ReturnType<typeof keyPair>
}

/** Registers an authority. @returns its name and key, and a function that signs consents: valid ones by default */
export async function consentAuthority({ db }: TestDatabase, name = AUTHORITY) {
  const own = keyPair('Ed25519')
  await addConsentAuthority(acting({ db }), { name, keys: [{ ...own.jwk, kid: 'c-1' }] })
  let count = 0
  return {
    name,
    key: own,
    /** Signs a consent. @param claims in place of the usual ones; a claim that is undefined is left out */
    async sign(claims: object = {}, { header = {}, key = own }: Signing = {}): Promise<string> {
      count += 1
      const { alg = 'EdDSA' } = header as { readonly alg?: string }
      const now = Math.floor(Date.now() / 1_000)
      const payload = {
        iss: name,
        aud: 'civil.example',
        subject: { identifier_type: 'UIN', identifier_value: '1' },
        purpose: { code: 'eligibility' },
        attributes: ['identifier', 'name', 'birth_date'],
        iat: now - 60,
        exp: now + 3_600,
        jti: `consent-${name}-${count}`,
        ...claims,
      }
      return new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
        .setProtectedHeader({ alg: 'EdDSA', typ: 'consent+jwt', kid: 'c-1', ...header } as { alg: string })
        .sign(await importJWK({ ...key.privateJwk }, alg))
    },
  }
}
