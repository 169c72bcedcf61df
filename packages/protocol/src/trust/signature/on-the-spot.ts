/**
 * Signs on the calling thread, if the platform can and the algorithm is fast: WebCrypto hands each signature to another
 * thread.
 */
import type { Bytes } from '../base64.ts'
import { nodeCrypto } from '../node.ts'
import { ALGORITHMS, type AlgorithmName, type WebCryptoKey } from './algorithms.ts'

/** The signers by the WebCrypto key with the same private key, which cannot be read from the function. */
const signers = new WeakMap<WebCryptoKey, (content: Bytes) => Bytes>()

/** @param jwk the private key that `key` was imported from */
export function signOnTheSpot(key: WebCryptoKey, jwk: object, algorithm: AlgorithmName): void {
  if (nodeCrypto === undefined || !ALGORITHMS[algorithm].quick) return
  const { createPrivateKey, sign } = nodeCrypto
  const own = createPrivateKey({ key: jwk, format: 'jwk' })
  signers.set(key, (content) => sign(null, content, own))
}

/** The signature of the content. */
export async function signatureOf(content: Bytes, key: WebCryptoKey, algorithm: AlgorithmName): Promise<Bytes> {
  const signed = signers.get(key)?.(content)
  return (
    signed ??
    new Uint8Array(await crypto.subtle.sign(ALGORITHMS[algorithm].webCrypto as { name: string }, key, content))
  )
}
