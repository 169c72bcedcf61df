/** The digest line in a signed list of parameters: a prefix, which names the hash, and the digest in base64. */
import { type Bytes, fromBase64, toBase64, utf8Bytes } from '../base64.ts'
import { nodeCrypto } from '../node.ts'

/** The prefix of a digest. The specification has none (''); other systems use the others (1.4, detail 1). */
export type DigestPrefix = '' | 'SHA-256=' | 'BLAKE-512='

/** The content of a digest: bytes, or a text, which is encoded in UTF-8. */
type DigestContent = Bytes | string

const bytesOfContent = (content: DigestContent): Bytes => (typeof content === 'string' ? utf8Bytes(content) : content)

/** The SHA-256 digest in base64. Made with Node's hash where it exists: WebCrypto uses another thread, which takes longer. */
const sha256 = (content: DigestContent): string | Promise<string> =>
  nodeCrypto?.hash('sha256', content, 'base64') ??
  crypto.subtle.digest('SHA-256', bytesOfContent(content)).then((digest) => toBase64(new Uint8Array(digest)))

/** The BLAKE2b digest with 512 bits, in base64. WebCrypto lacks BLAKE2b, so its code is loaded at first use. */
async function blake2b512(content: DigestContent): Promise<string> {
  const { blake2b } = await import('@noble/hashes/blake2.js')
  return toBase64(new Uint8Array(blake2b(bytesOfContent(content), { dkLen: 64 })))
}

/** For each prefix, the function that makes the digest in base64. */
const BASE64_DIGESTS: Readonly<Record<DigestPrefix, (content: DigestContent) => string | Promise<string>>> = {
  '': sha256,
  'SHA-256=': sha256,
  'BLAKE-512=': blake2b512,
}

const createByteDigester = (prefix: DigestPrefix) => async (bytes: Bytes) =>
  fromBase64(await BASE64_DIGESTS[prefix](bytes)) as Bytes

/** For each prefix, the function that makes the digest as bytes. */
export const DIGESTS: Readonly<Record<DigestPrefix, (bytes: Bytes) => Promise<Bytes>>> = {
  '': createByteDigester(''),
  'SHA-256=': createByteDigester('SHA-256='),
  'BLAKE-512=': createByteDigester('BLAKE-512='),
}

/** The digest of a text or bytes with its prefix: what follows `digest: ` in the signed text. */
export async function digestOf(content: DigestContent, prefix: DigestPrefix): Promise<string> {
  return `${prefix}${await BASE64_DIGESTS[prefix](content)}`
}
