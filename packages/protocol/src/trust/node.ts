/** What Node.js does on the thread that asks. A browser has none of it. */

type Bytes = Uint8Array<ArrayBuffer>

interface NodeCrypto {
  hash(algorithm: 'sha256', bytes: Bytes, encoding: 'buffer'): Bytes
  createPrivateKey(key: { readonly key: object; readonly format: 'jwk' }): object
  /** Of an Ed25519 key. */
  sign(algorithm: null, content: Bytes, key: object): Bytes
}

interface Platform {
  readonly process?: { getBuiltinModule?(name: 'node:crypto'): NodeCrypto }
}

/** Undefined in a browser. */
export const nodeCrypto = (globalThis as Platform).process?.getBuiltinModule?.('node:crypto')
