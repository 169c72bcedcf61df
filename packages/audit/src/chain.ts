/** Hashes of a chain. Each process writes its own chains; the hash of an entry covers all entries before it. */
import { hash } from 'node:crypto'

/** The place and the content of an entry, as texts. */
export interface ChainedEntry {
  readonly chain: string
  readonly sequence: number
  /** RFC 3339 in UTC, with milliseconds. */
  readonly at: string
  /** Canonical JSON. */
  readonly entry: string
  /** 32 bytes for each person. */
  readonly commitments: Buffer
}

/** The hash that the first entry of a chain follows. */
export const firstHash = (chain: string): Buffer => hash('sha256', chain, 'buffer')

/** SHA-256 of the previous hash, in hexadecimal, and the canonical JSON of the entry with its place. */
export function entryHash(previous: Buffer, { chain, sequence, at, entry, commitments }: ChainedEntry): Buffer {
  const text = `{"at":"${at}","chain":"${chain}","commitments":"${commitments.toString('hex')}","entry":${entry},"sequence":${sequence}}`
  return hash('sha256', previous.toString('hex') + text, 'buffer')
}
