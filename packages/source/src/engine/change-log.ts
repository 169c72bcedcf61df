/** The log of changes of a source's database. The database keeps the log from our place on. */

/** Changed rows that were taken from the log. */
export interface LoggedChanges {
  /** Keys of the records to read again, by record type. */
  readonly due: ReadonlyMap<string, ReadonlySet<string>>
  /** Whether a whole table was emptied: then it is unknown which records have changed. */
  readonly isEmptied: boolean
  /** The numbers of their transactions, as the log has them. */
  readonly transactions: readonly number[]
  /** All changes before this position were taken. */
  readonly position: string
}

export interface LogReading {
  /** Waits until changes can be taken. @param milliseconds the longest wait */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
  /**
   * Takes received changes, in the order of their commits.
   * @param most keys; a transaction may come in parts: then the position is before it
   * @throws the connection is lost
   */
  take(most: number): LoggedChanges
  /** Allows the database to drop the log before this position, whose changes are written here. */
  acknowledge(position: string): void
  close(): Promise<void>
}

/** The state of the log at a moment. */
export interface LogState {
  /** Whether the database still keeps the log from our position on. */
  readonly isKept: boolean
  /** The position at the end of the log. */
  readonly end: string
  /** Bytes of the log that the database keeps for us. */
  readonly size: number
}

export interface ChangeLog {
  /** Why the log would miss changes: sentences for the administrator of the source, with statements that mend it. */
  problems(): Promise<readonly string[]>
  /**
   * Makes a new place: the database keeps every change from now on. It may wait long, until the signal is aborted.
   * @returns the position of the place
   */
  begin(signal: AbortSignal): Promise<string>
  /** @param position up to which changes are written here */
  state(position: string): Promise<LogState>
  read(position: string): Promise<LogReading>
  /**
   * Whether a state that begins now sees these transactions. A commit is in the log before others see it: for a moment, or for as long
   * as it waits for a standby.
   */
  isVisible(transactions: readonly number[]): Promise<boolean>
  /** Gives the place up, so that the database need not keep the log for us. */
  drop(): Promise<void>
  /** Whether the first position is before the other one. */
  isBefore(one: string, other: string): boolean
}
