/** The digest line in a signed list of parameters: a prefix, which names the hash, and the digest in base64. */
import { type Bytes, toBase64 } from '../base64.ts'
import { nodeCrypto } from '../node.ts'

/** The specification has no prefix; other systems use these (1.4, detail 1). */
export type DigestPrefix = '' | 'SHA-256=' | 'BLAKE-512='

/**
 * Uses Node's hash where it exists: handing a digest to another thread, as WebCrypto does, takes longer than the
 * digest.
 */
const sha256 = async (bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(nodeCrypto?.hash('sha256', bytes, 'buffer') ?? (await crypto.subtle.digest('SHA-256', bytes)))

/** BLAKE-512 means BLAKE2b with 512 bits. WebCrypto lacks it, so its code is loaded at first use. */
async function blake2b512(bytes: Bytes): Promise<Bytes> {
  const { blake2b } = await import('@noble/hashes/blake2.js')
  return new Uint8Array(blake2b(bytes, { dkLen: 64 }))
}

export const DIGESTS: Readonly<Record<DigestPrefix, (bytes: Bytes) => Promise<Bytes>>> = {
  '': sha256,
  'SHA-256=': sha256,
  'BLAKE-512=': blake2b512,
}

/** The text after `digest: ` in what is signed. */
export async function digestOf(bytes: Bytes, prefix: DigestPrefix): Promise<string> {
  return `${prefix}${toBase64(await DIGESTS[prefix](bytes))}`
}
