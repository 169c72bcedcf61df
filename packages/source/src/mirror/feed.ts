/** How a mirror learns which records have changed. */

import type { JsonValue } from '@rollcall/protocol'

/** Changes of a source that the mirror writes together. */
export interface ChangeBatch {
  /** The keys of the changed records, each once, by record type. */
  readonly due: ReadonlyMap<string, readonly string[]>
  /** The position after these changes, from which the next ones are found. */
  readonly position: JsonValue
  /** Why changes may be missing, without a value: then all records must be compared. Null: none is missing. */
  readonly loss: string | null
  /**
   * As far as the feed knows, this batch and earlier ones have every change up to this time of the node's clock; null: the feed
   * knows no time.
   */
  readonly currentAt: Date | null
  /** Called when the batch is committed together with its position. */
  committed(): void
}

/** Finds the changes of a source, one batch after another. */
export interface ChangeFeed {
  /** Returns the position from which changes are found. The caller then reads all records. */
  begin(signal: AbortSignal): Promise<JsonValue>
  /** Finds the next changes after a position. @param wait the longest wait, in milliseconds @throws SourceRefusal */
  next(position: JsonValue, wait: number, signal: AbortSignal): Promise<ChangeBatch>
  close(): Promise<void>
}
