/** The cryptography that Node.js can do on the calling thread, and browsers cannot. */

type Bytes = Uint8Array<ArrayBuffer>

interface NodeCrypto {
  hash(algorithm: 'sha256', bytes: Bytes, encoding: 'buffer'): Bytes
  createPrivateKey(key: { readonly key: object; readonly format: 'jwk' }): object
  /** Signs with an Ed25519 key. */
  sign(algorithm: null, content: Bytes, key: object): Bytes
}

interface NodeBuffer {
  from(text: string, encoding: 'utf8'): Bytes
  /** The same bytes, not copied. */
  from(buffer: ArrayBuffer, offset: number, length: number): { toString(encoding: 'base64'): string }
}

interface Platform {
  readonly process?: {
    getBuiltinModule?(name: 'node:crypto'): NodeCrypto
    getBuiltinModule?(name: 'node:buffer'): { readonly Buffer: NodeBuffer }
  }
}

const { process } = globalThis as Platform

/** Undefined in a browser, as `nodeBuffer` is. */
export const nodeCrypto = process?.getBuiltinModule?.('node:crypto')

/** Writes bytes as base64, and texts as bytes, in less time than `btoa` and `TextEncoder`. It reads base64 no faster than `atob`. */
export const nodeBuffer = process?.getBuiltinModule?.('node:buffer').Buffer
