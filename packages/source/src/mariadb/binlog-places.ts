/** Places in the binlog of a server. */

/** A place in the binlog, after an event. */
export interface BinlogPlace {
  /** The name of the file, such as mariadb-bin.000003. */
  readonly file: string
  readonly position: number
  /** When the file was made, in seconds since 1970: after RESET MASTER another file has the same name. Null: not known yet. */
  readonly made: number | null
  /** The last GTID of each domain, as the server writes them. */
  readonly gtids: string
}

/** Returns a place as the text of a position in the log (`LoggedChanges.position`); `parseBinlogPlace` reads it. */
export const placeText = ({ file, position, made, gtids }: BinlogPlace): string => JSON.stringify([file, position, made, gtids])

export function parseBinlogPlace(text: string): BinlogPlace {
  const [file, position, made, gtids] = JSON.parse(text) as [string, number, number | null, string]
  return { file, position, made, gtids }
}

/** A number that is greater for a later place. It is exact for files before number 2^21. */
export const placeOrderNumber = ({ file, position }: Pick<BinlogPlace, 'file' | 'position'>): number =>
  Number(/\d+$/.exec(file)?.[0] ?? 0) * 2 ** 32 + position

/** The GTIDs in a list, sorted as texts. */
export const sortedGtids = (gtids: string): readonly string[] =>
  gtids
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .toSorted()

/**
 * True when a log whose last GTIDs are `gtids` continues the log that ended with `before`: `gtids` has each domain of `before`,
 * with the same or a greater number.
 */
export function continuesLog(gtids: string, before: string): boolean {
  const numbers = (text: string) =>
    new Map(sortedGtids(text).map((gtid) => [gtid.split('-')[0], BigInt(gtid.split('-')[2] ?? 0)]))
  const now = numbers(gtids)
  return [...numbers(before)].every(([domain, number]) => (now.get(domain) ?? -1n) >= number)
}
