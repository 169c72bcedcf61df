/**
 * Takes the bytes of a binlog out of the packets in which a server sends the binlog. An event may have any size, because only
 * the bytes that one call of `take` wants, and the last piece that came, are in memory.
 */

import { LogLost } from '../engine/change-log.ts'

/** The most bytes that one call of `take` may want: the description of a table with very many columns needs the most. */
const MOST_TAKEN_EVENT_BYTES = 1_048_576
/** The length of a packet that the next one continues. */
const CONTINUED_PACKET_LENGTH = 0xff_ff_ff
/** The most bytes of a packet that is read as an error of the server. */
const MOST_ERROR_PACKET_BYTES = 4_096

const NO_BYTES = Buffer.alloc(0)

/** Reads bytes of events, which arrive in pieces. A generator that needs more bytes yields, and goes on after the next `add`. */
export class EventByteReader {
  #bytes: Buffer = NO_BYTES
  #at = 0
  /** Bytes of the event that were neither taken nor skipped. */
  left = 0

  add(bytes: Buffer): void {
    this.#bytes = this.#at === this.#bytes.length ? bytes : Buffer.concat([this.#bytes.subarray(this.#at), bytes])
    this.#at = 0
  }

  /** Takes the next bytes of the event. The buffer is a view, not a copy. */
  *take(count: number): Generator<void, Buffer> {
    if (count > this.left || count > MOST_TAKEN_EVENT_BYTES) throw new LogLost('an event has too many bytes, or too few')
    while (this.#bytes.length - this.#at < count) yield
    const taken = this.#bytes.subarray(this.#at, this.#at + count)
    this.#at += count
    this.left -= count
    return taken
  }

  *skip(count: number): Generator<void, void> {
    if (count > this.left) throw new LogLost('an event is too short')
    this.left -= count
    let more = count
    while (this.#bytes.length - this.#at < more) {
      more -= this.#bytes.length - this.#at
      this.#at = this.#bytes.length
      yield
    }
    this.#at += more
  }

  *number(bytes: number): Generator<void, number> {
    return (yield* this.take(bytes)).readUIntLE(0, bytes)
  }
}

/** Takes the headers of packets out of a stream, and hands on the bytes of events. */
export class PacketReader {
  /** The bytes that have come of a packet's header, or of an error packet, while its other bytes are still to come. */
  #rest: Buffer = NO_BYTES
  /** Bytes of the packet that have not come yet. */
  #left = 0
  #isContinued = false
  readonly #event: (bytes: Buffer) => void

  constructor(event: (bytes: Buffer) => void) {
    this.#event = event
  }

  /** Reads a chunk of the stream. @throws an error of the server, as the driver would make it, or LogLost */
  add(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = NO_BYTES
    while (bytes.length > 0) {
      if (this.#left === 0) {
        const begin = this.#begin(bytes)
        if (begin === null) {
          this.#rest = bytes
          return
        }
        bytes = bytes.subarray(begin)
      }
      const some = bytes.subarray(0, this.#left)
      this.#left -= some.length
      bytes = bytes.subarray(some.length)
      if (some.length > 0) this.#event(some)
    }
  }

  /** Reads the header of a packet. @returns the length of the header in bytes; null: it has not come whole */
  #begin(bytes: Buffer): number | null {
    // A packet that continues another one has no status.
    const size = this.#isContinued ? 4 : 5
    if (bytes.length < size) return null
    const length = bytes.readUIntLE(0, 3)
    const status = this.#isContinued ? 0 : bytes.readUInt8(4)
    if (status === 0xff && length <= MOST_ERROR_PACKET_BYTES) {
      if (bytes.length < 4 + length) return null
      throw serverError(bytes.subarray(5, 4 + length))
    }
    if (status !== 0) throw new LogLost('the server has ended the log')
    this.#left = length + 4 - size
    this.#isContinued = length === CONTINUED_PACKET_LENGTH
    return size
  }
}

/** Makes the error of a server. @param bytes the number of the error, # with the SQLSTATE, and the message */
const serverError = (bytes: Buffer): Error =>
  Object.assign(new Error(bytes.toString('utf8', 8)), { errno: bytes.readUInt16LE(0), sqlState: bytes.toString('latin1', 3, 8) })
