/** The hashes of a chain. Each process writes chains of its own. A hash covers the chain's entries up to its own. */
import { sha256 } from '@rollcall/base/shared/sha256'

/** The place and the content of an entry, as texts. */
export interface ChainedEntry {
  readonly chain: string
  readonly sequence: number
  /** The time of the entry: RFC 3339 in UTC, with milliseconds. */
  readonly at: string
  /** The canonical JSON of the entry. */
  readonly entry: string
  /** The hashes that stand for the persons (`commitmentOf`), one after another, 32 bytes each. */
  readonly commitments: Buffer
}

/** The hash that the first entry of a chain has in place of a previous entry's hash. */
export const firstPreviousHash = (chain: string): Buffer => sha256(chain)

/** SHA-256, 32 bytes, of the previous hash in hexadecimal, then the canonical JSON of place, time, commitments and entry. */
export function entryHash(previous: Buffer, { chain, sequence, at, entry, commitments }: ChainedEntry): Buffer {
  const text = `{"at":"${at}","chain":"${chain}","commitments":"${commitments.toString('hex')}","entry":${entry},"sequence":${sequence}}`
  return sha256(previous.toString('hex') + text)
}
