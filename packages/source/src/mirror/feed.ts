/** Where a mirror learns which records have changed. */

import type { JsonValue } from '@rollcall/protocol'

export interface ChangeBatch {
  /** Keys of the records that are due, each once, by record type. */
  readonly due: ReadonlyMap<string, readonly string[]>
  /** The position once these are written. */
  readonly position: JsonValue
  /** Whether changes are missing, such as after a loss: all records are to be compared. */
  readonly isIncomplete: boolean
  /** Every change before this time is written with this batch; null: not known. */
  readonly currentAt: Date | null
  /** Called when the batch is committed with its position. */
  committed(): void
}

export interface ChangeFeed {
  /** The position from which on changes are given. All records are read after it. */
  begin(signal: AbortSignal): Promise<JsonValue>
  /**
   * The next changes after the last batch, or after the position where there was none.
   * @param wait milliseconds that it may wait for changes
   * @throws SourceRefusal
   */
  next(position: JsonValue, wait: number, signal: AbortSignal): Promise<ChangeBatch>
  close(): Promise<void>
}
