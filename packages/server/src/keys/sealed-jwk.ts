/** Own keys as they lie in the database: a sealed JWK, bound to its kid. */
import type { JWK } from 'jose'
import type { OwnKey } from '../store/keys/own-keys.ts'
import { SEALED } from '../store/keys/sealed-tables.ts'
import { SealError } from './sealed-value.ts'
import type { Vault } from './vault.ts'

const { table, purpose } = SEALED.own_key

export function sealJwk(kid: string, jwk: JWK, vault: Vault): Promise<Buffer> {
  return vault.seal(purpose, { table, id: kid }, Buffer.from(JSON.stringify(jwk)))
}

/** @throws SealError altered, moved, or erased */
export async function openJwk({ kid, sealed }: Pick<OwnKey, 'kid' | 'sealed'>, vault: Vault): Promise<JWK> {
  if (sealed === null) throw new SealError('the key is erased')
  return JSON.parse((await vault.open(purpose, { table, id: kid }, sealed)).toString())
}
