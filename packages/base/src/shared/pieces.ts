/** Collects bytes that come in pieces of any size. */

/** So many pieces are joined into one: each takes some 200 bytes of memory beside its own, and may have a single byte. */
const MOST_PIECES = 1_024

export class Pieces {
  readonly #joined: Uint8Array[] = []
  #pieces: Uint8Array[] = []

  push(piece: Uint8Array): void {
    this.#pieces.push(piece)
    if (this.#pieces.length < MOST_PIECES) return
    this.#joined.push(Buffer.concat(this.#pieces))
    this.#pieces = []
  }

  /** All bytes so far. A single Buffer is not copied. */
  bytes(): Buffer {
    const [first, ...others] = [...this.#joined, ...this.#pieces]
    return Buffer.isBuffer(first) && others.length === 0 ? first : Buffer.concat(first === undefined ? [] : [first, ...others])
  }
}
