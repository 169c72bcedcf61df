/** Token buckets in the database, from which all nodes take. */
import type { Database } from '@rollcall/database/database'

export interface TokensWanted {
  readonly bucket: string
  /** Tokens that flow into the bucket each second; finite, above 0. */
  readonly rate: number
  /** The size of a full bucket, and of a new one; a whole number of at least 1. */
  readonly capacity: number
  /** Tokens to take; a whole number of at least 1. */
  readonly wanted: number
  /** The least number of tokens to take: if the bucket has fewer, none is taken; 0 by default. */
  readonly least?: number
}

/** The tokens that a bucket gave, and those left in it. */
export interface TokensTaken {
  /** The whole tokens that were taken, at most those wanted. */
  readonly granted: number
  /** The tokens left in the bucket. */
  readonly left: number
}

/**
 * Takes as many of the wanted tokens as the bucket has, in one prepared statement. A bucket fills by the clock of the
 * database, which all nodes share. If that clock is set back, the bucket goes on filling from the new time at once.
 */
export async function takeTokens({ pool }: Pick<Database, 'pool'>, asked: TokensWanted): Promise<TokensTaken> {
  const { rows } = await pool.query<{ granted: number; tokens: number }>({
    name: 'take tokens',
    text: `insert into quota_bucket as held (bucket, tokens, granted, refilled_at)
      select $1, $3::float8 - fresh.given, fresh.given, clock_timestamp()
      from (select case when least($4::float8, $3) < $5::float8 then 0 else least($4::float8, $3) end as given) as fresh
      on conflict (bucket) do update set (tokens, granted, refilled_at) = (
        select filled.tokens - taken.given, taken.given, filled.at
        from (
          select clock.at, least($3, held.tokens + $2::float8 *
            greatest(0, extract(epoch from clock.at - held.refilled_at)::float8)) as tokens
          from (select clock_timestamp() as at) as clock
        ) as filled
        cross join lateral (
          select case when filled.tokens < $5 then 0 else floor(least($4, filled.tokens)) end as given
        ) as taken
      )
      returning granted, tokens`,
    values: [asked.bucket, asked.rate, asked.capacity, asked.wanted, asked.least ?? 0],
  })
  const [row] = rows
  if (row === undefined) throw new Error('a bucket of tokens did not answer')
  return { granted: row.granted, left: row.tokens }
}
