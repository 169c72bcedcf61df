/**
 * Signs on the calling thread where the platform can do so and the algorithm is fast. WebCrypto would hand each signature to
 * another thread, which takes longer.
 */
import type { Bytes } from '../base64.ts'
import { nodeCrypto } from '../node.ts'
import { ALGORITHMS, type AlgorithmName, type WebCryptoKey } from './algorithms.ts'

/** For a WebCrypto key, a function that signs with the same private key. */
const synchronousSigners = new WeakMap<WebCryptoKey, (content: Bytes) => Bytes>()

/**
 * Prepares a key for signing on the calling thread; does nothing in a browser, or for a slow algorithm.
 * @param jwk the private key from which `key` was imported
 */
export function prepareSynchronousSigner(key: WebCryptoKey, jwk: object, algorithm: AlgorithmName): void {
  if (nodeCrypto === undefined || !ALGORITHMS[algorithm].quick) return
  const { createPrivateKey, sign } = nodeCrypto
  const own = createPrivateKey({ key: jwk, format: 'jwk' })
  synchronousSigners.set(key, (content) => sign(null, content, own))
}

/** Signs on the calling thread if `prepareSynchronousSigner` has prepared the key, otherwise with WebCrypto. */
export async function signContent(content: Bytes, key: WebCryptoKey, algorithm: AlgorithmName): Promise<Bytes> {
  const signed = synchronousSigners.get(key)?.(content)
  return signed ?? new Uint8Array(await crypto.subtle.sign(ALGORITHMS[algorithm].webCrypto as { name: string }, key, content))
}
