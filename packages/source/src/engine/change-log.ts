/** The log of changes of a source's database, from which a place of ours is kept. */

/** Changed rows as they were taken of the log. */
export interface LoggedChanges {
  /** Keys of the records that are due, by record type. */
  readonly due: ReadonlyMap<string, ReadonlySet<string>>
  /** Whether a table was emptied as a whole: nobody knows which records are due. */
  readonly isEmptied: boolean
  /** All changes before it were taken. */
  readonly position: string
}

export interface LogReading {
  /** Waits until something can be taken. @param milliseconds at most */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
  /**
   * Changes that were received, in the order of their commits.
   * @param most how many keys; a transaction may be given in parts, and the position is then before it
   * @throws the connection is lost
   */
  take(most: number): LoggedChanges
  /** The log need not keep what is before the position: it is written here. */
  acknowledge(position: string): void
  close(): Promise<void>
}

/** How the log is at a moment. */
export interface LogState {
  /** Whether our place is there, and no other position than ours was acknowledged. */
  readonly isKept: boolean
  /** Where the log ends. */
  readonly end: string
  /** Bytes of the log that are kept for us. */
  readonly size: number
}

export interface ChangeLog {
  /** Why changes would be missing, for the source's administrator: sentences with the statements that mend it. */
  problems(): Promise<readonly string[]>
  /**
   * Makes our place anew: every change from now on is kept there. It may wait for long, until the signal is aborted.
   * @returns its position
   */
  begin(signal: AbortSignal): Promise<string>
  /** @param position up to which changes are written here */
  state(position: string): Promise<LogState>
  read(position: string): Promise<LogReading>
  /** Gives our place up: the database need not keep anything for us. */
  drop(): Promise<void>
  /** Whether the first position is before the other one. */
  isBefore(one: string, other: string): boolean
}
