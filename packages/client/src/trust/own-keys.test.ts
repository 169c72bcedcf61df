import { DEFAULT_SIGNATURE_PROFILE } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { signerOf } from './own-keys.ts'

const ed = keyPair('Ed25519')
const rsa = keyPair('RSA')
const x = keyPair('X25519')

describe('a key to sign with', () => {
  it('brings its algorithm into the profile of the specification', async () => {
    const { key, profile, namespace, lifetime } = await signerOf({ key: { ...rsa.privateJwk, kid: 'r' } }, 'sp.example')
    expect(key).toMatchObject({ sender_id: 'sp.example', kid: 'r', algorithm: 'RS256' })
    expect(profile).toEqual({ ...DEFAULT_SIGNATURE_PROFILE, algorithms: ['RS256'] })
    expect([namespace, lifetime]).toEqual(['registry', 300])
  })

  it.each([
    [{ key: ed.privateJwk }, 'signing.key: must have a kid'],
    [{ key: { ...x.privateJwk, kid: 'x' } }, 'signing.key: must be a key for EdDSA, ES256 or RS256'],
    [{ key: { ...ed.jwk, kid: 'e' } }, 'this is a public key; a private key is expected'],
    [
      { key: { ...rsa.privateJwk, kid: 'r' }, profile: DEFAULT_SIGNATURE_PROFILE },
      'signing.profile: its algorithms must include that of the key',
    ],
    [
      { key: { ...ed.privateJwk, kid: 'e' }, profile: { ...DEFAULT_SIGNATURE_PROFILE, algorithms: [] } },
      'signing.profile: algorithms must be a list of different names, one at least',
    ],
  ])('is refused: %#', async (signing, message) => {
    await expect(signerOf(signing, 'sp.example')).rejects.toThrow(message)
  })
})
