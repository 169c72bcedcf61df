/** What all users of a pool share. */
import type pg from 'pg'

/** One for each pool, made when it is first asked for; gone when the pool is. */
export function perPool<Value>(make: (pool: pg.Pool) => Value): (pool: pg.Pool) => Value {
  const made = new WeakMap<pg.Pool, Value>()
  return (pool) => {
    const known = made.get(pool)
    if (known !== undefined) return known
    const value = make(pool)
    made.set(pool, value)
    return value
  }
}
