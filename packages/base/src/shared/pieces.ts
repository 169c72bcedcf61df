/** Collects bytes that come in pieces of any size. */

/** `push` joins this many pieces into one: a piece may be a single byte, and takes some 200 bytes of memory besides. */
const MOST_UNJOINED_PIECES = 1_024

export class ByteCollector {
  readonly #joined: Uint8Array[] = []
  #pieces: Uint8Array[] = []

  push(piece: Uint8Array): void {
    this.#pieces.push(piece)
    if (this.#pieces.length < MOST_UNJOINED_PIECES) return
    this.#joined.push(Buffer.concat(this.#pieces))
    this.#pieces = []
  }

  /** All bytes so far. A single Buffer is not copied. */
  bytes(): Buffer {
    const [first, ...others] = [...this.#joined, ...this.#pieces]
    return Buffer.isBuffer(first) && others.length === 0 ? first : Buffer.concat(first === undefined ? [] : [first, ...others])
  }
}
