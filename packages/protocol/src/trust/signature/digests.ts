/** The third signed line of the parameter layout: a prefix, which names the hash, and base64 of the digest. */
import { type Bytes, toBase64 } from '../base64.ts'
import { nodeCrypto } from '../node.ts'

/** The spec's own form has no prefix; the others are seen in the wild (1.4, detail 1). */
export type DigestPrefix = '' | 'SHA-256=' | 'BLAKE-512='

/** WebCrypto hands each digest to another thread and back, which takes longer than the digest of a message. */
const sha256 = async (bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(nodeCrypto?.hash('sha256', bytes, 'buffer') ?? (await crypto.subtle.digest('SHA-256', bytes)))

/** BLAKE-512 means BLAKE2b with 512 bits. WebCrypto does not have it, so its code is loaded when it is first needed. */
async function blake2b512(bytes: Bytes): Promise<Bytes> {
  const { blake2b } = await import('@noble/hashes/blake2.js')
  return new Uint8Array(blake2b(bytes, { dkLen: 64 }))
}

export const DIGESTS: Readonly<Record<DigestPrefix, (bytes: Bytes) => Promise<Bytes>>> = {
  '': sha256,
  'SHA-256=': sha256,
  'BLAKE-512=': blake2b512,
}

/** The text after `digest: ` in the signed text. */
export async function digestOf(bytes: Bytes, prefix: DigestPrefix): Promise<string> {
  return `${prefix}${toBase64(await DIGESTS[prefix](bytes))}`
}
