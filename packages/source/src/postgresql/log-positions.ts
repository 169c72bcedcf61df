/** Positions in the log of a PostgreSQL, as numbers and as texts such as 16/B374D848; and what a snapshot sees. */

export const positionText = (position: bigint): string =>
  `${(position >> 32n).toString(16)}/${(position & 0xffff_ffffn).toString(16)}`.toUpperCase()

/**
 * True when a snapshot sees that all of these transactions have ended.
 * @param snapshot the text of `pg_current_snapshot`. In 10:20:10,14 the last two numbers are of transactions that have not ended.
 * All others below 20 have ended, and 20 is the number of the next transaction
 * @param transactions the last 32 bits of their numbers, as the log has them
 */
export function haveTransactionsEnded(snapshot: string, transactions: readonly number[]): boolean {
  const [, next = '0', open = ''] = snapshot.split(':')
  const last32 = (number: string): number => Number(BigInt.asUintN(32, BigInt(number)))
  const end = last32(next)
  const running = new Set(open.split(',').flatMap((one) => (one === '' ? [] : [last32(one)])))
  // Numbers begin anew after 32 bits. So the sign of the difference says whether a transaction is earlier than the next one.
  return transactions.every((one) => !running.has(one) && ((one - end) | 0) < 0)
}

export function parseLogPosition(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
