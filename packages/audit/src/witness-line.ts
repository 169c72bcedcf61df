/** The line of JSON in which a witness gets a checkpoint. */

/** A checkpoint as the witness gets it: a line of JSON. */
export interface WitnessLine {
  readonly chain: string
  readonly sequence: number
  /** The hash of the last entry that the checkpoint signs, in hexadecimal. */
  readonly hash: string
  readonly at: string
  readonly ended: boolean
  /** The digest of the checkpoint, in hexadecimal. */
  readonly digest: string
  readonly kid: string
}

/** Reads the checkpoint in a line of a witness, after any prefix; null when there is none. */
export function readWitnessLine(line: string): WitnessLine | null {
  // A log may have cut an earlier checkpoint short, so that its beginning stands before this one in the line.
  const begin = line.lastIndexOf('{"rollcall_checkpoint":')
  if (begin < 0) return null
  try {
    const { rollcall_checkpoint: found } = JSON.parse(line.slice(begin)) as { rollcall_checkpoint?: unknown }
    return isWitnessLine(found) ? found : null
  } catch {
    return null
  }
}

function isWitnessLine(value: unknown): value is WitnessLine {
  if (typeof value !== 'object' || value === null) return false
  const { chain, sequence, hash, at, digest, kid } = value as Record<string, unknown>
  const texts = [chain, hash, at, digest, kid].every((text) => typeof text === 'string')
  return texts && Number.isSafeInteger(sequence) && /^[0-9a-f]{64}$/.test(String(digest))
}
