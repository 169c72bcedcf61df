/**
 * The log of changes of a source's database. We read it from our place on: a position in the log, up to which our database has
 * all changes. In PostgreSQL a replication slot keeps the log from there on. MariaDB keeps it for as long as its settings say.
 */

/**
 * The log cannot be read from the position on, or something in it cannot be understood: it is unknown what has changed.
 * The message is for the log of the node, and has no value.
 */
export class LogLost extends Error {
  override readonly name = 'LogLost'
}

/** A reason not to begin to follow the log as it is. */
export interface LogProblem {
  /** A sentence for the source's administrator, with what to do. */
  readonly text: string
  /** True when the log lacks changes because of it. False: a mirror that follows the log already can go on. */
  readonly losesChanges: boolean
}

/** Makes a problem because of which the log lacks changes. */
export const makeLossProblem = (text: string): LogProblem => ({ text, losesChanges: true })

/** Joins the sentences of problems, each once. */
export const logProblemsText = (problems: readonly LogProblem[]): string =>
  [...new Set(problems.map(({ text }) => text))].join('; ')

/** Changes that were taken from the log of a source. */
export interface LoggedChanges {
  /** The keys of the records to read again, by record type. */
  readonly due: ReadonlyMap<string, ReadonlySet<string>>
  /** True when it is unknown which records have changed, for example because a whole table was emptied. */
  readonly isEmptied: boolean
  /** The numbers of the transactions with these changes, for `isVisible`. Beyond 10,000, older ones may be left out. */
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
  /** Allows PostgreSQL to delete the log before this position: our database has the changes before it. */
  acknowledge(position: string): void
  close(): Promise<void>
}

/** The state of the log at a moment. */
export interface ChangeLogState {
  /**
   * False when the database lacks the log from our position on. True is not certain for MariaDB, which may have purged a file of
   * the log: only `read` finds this.
   */
  readonly isKept: boolean
  /** True when our replication slot exists, but PostgreSQL has deleted log that the slot should keep (`wal_status` lost). */
  readonly isLost: boolean
  /** The position of the end of the log. */
  readonly end: string
  /** The bytes of log that the database keeps for us; 0 for MariaDB, which keeps none for us. */
  readonly size: number
}

/** The functions for the log of changes of a source's database. */
export interface ChangeLog {
  /** Finds why the log must not be followed as it is. A problem may be there several times. */
  problems(): Promise<readonly LogProblem[]>
  /**
   * Makes our place in the log anew, from which every change can be read. In PostgreSQL the place is a replication slot, which
   * may take long to make; aborting the signal ends the wait. In MariaDB the place is only a position.
   * @returns the position of the place
   */
  begin(signal: AbortSignal): Promise<string>
  /** Reads the state of the log. @param position our database has all changes before it */
  state(position: string): Promise<ChangeLogState>
  /** Begins to read the changes after a position. @throws LogLost, or any error of the database */
  read(position: string): Promise<LogReader>
  /**
   * True when a snapshot that begins now sees these transactions. A transaction is in the log a moment before others see it, or
   * longer before, when its commit waits for a standby server.
   */
  isVisible(transactions: readonly number[]): Promise<boolean>
  /** Removes our place, so that the database need not keep the log for us. */
  drop(): Promise<void>
  /** True when the first position is before the second. */
  isBefore(one: string, other: string): boolean
}
