/**
 * The log of changes of a source's database, which is read from our place on. PostgreSQL keeps the log from there on;
 * MariaDB keeps it for as long as its own settings say.
 */

/**
 * The log cannot be read from the position on, or something in it cannot be understood: it is unknown what has changed.
 * The message is for developers.
 */
export class LogLost extends Error {
  override readonly name = 'LogLost'
}

/** Changes that were taken from the log of a source. */
export interface LoggedChanges {
  /** The keys of the records to read again, by record type. */
  readonly due: ReadonlyMap<string, ReadonlySet<string>>
  /** True when it is unknown which records have changed, for example because a whole table was emptied. */
  readonly isEmptied: boolean
  /** The numbers of the transactions with these changes, for `isVisible`; of very many, the latest ones. */
  readonly transactions: readonly number[]
  /** A position in the log: all changes before it were taken. */
  readonly position: string
}

/** Reads a log on a connection of its own. */
export interface LogReader {
  /** Waits until changes can be taken, the reading has failed or the signal aborts. @param milliseconds the longest wait */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
  /**
   * Takes received changes, in the order of their commits.
   * @param most the number of keys after which no more are taken. A long transaction may come in parts; the position is
   * then before the transaction
   * @throws LogLost, or another error that has ended the reading
   */
  take(most: number): LoggedChanges
  /** Allows PostgreSQL to delete the log before this position: the changes before it are stored here. */
  acknowledge(position: string): void
  close(): Promise<void>
}

/** The state of the log at a moment. */
export interface LogState {
  /** False when the database lacks the log from our position on. Only `read` finds that MariaDB has purged a file. */
  readonly isKept: boolean
  /** The position of the end of the log. */
  readonly end: string
  /** The bytes of log that the database keeps for us; 0 for MariaDB, which keeps none for us. */
  readonly size: number
}

/** The functions for the log of changes of a source's database. */
export interface ChangeLog {
  /** Finds why the log must not be followed as it is: sentences for the source's administrator, with what to do. */
  problems(): Promise<readonly string[]>
  /**
   * Makes a new place in the log, from which every change can be read. PostgreSQL may take long for it; aborting the signal ends
   * the wait.
   * @returns the position of the place
   */
  begin(signal: AbortSignal): Promise<string>
  /** Reads the state of the log. @param position all changes before it are stored here */
  state(position: string): Promise<LogState>
  /** Begins to read the changes after a position. @throws LogLost, or any error of the database */
  read(position: string): Promise<LogReader>
  /**
   * True when a snapshot that begins now sees these transactions. A commit is in the log before others see it: for a
   * moment, or as long as it waits for a standby.
   */
  isVisible(transactions: readonly number[]): Promise<boolean>
  /** Removes our place, so that the database need not keep the log for us. */
  drop(): Promise<void>
  /** True when the first position is before the second. */
  isBefore(one: string, other: string): boolean
}
