/** Data keys in memory, for some seconds only: what is destroyed in the database must not live on in processes. */
import { createSecretKey, type KeyObject } from 'node:crypto'

export interface DayKeys {
  /** Null: there is none, or it was destroyed. */
  find(day: string): Promise<KeyObject | null>
  /** The day's key, made where there is none. */
  ensure(day: string): Promise<KeyObject>
  /** Forgets it now. */
  drop(day: string): void
}

/** Milliseconds from the moment a key is read. */
const LIFE = 5_000

/** @param source the bytes of a day's key, from the database */
export function createDayKeys(source: {
  find(day: string): Promise<Buffer | null>
  make(day: string): Promise<Buffer>
}): DayKeys {
  const held = new Map<string, Promise<KeyObject | null>>()

  const hold = (day: string, key: Promise<KeyObject | null>): void => {
    held.set(day, key)
    const drop = (): void => {
      if (held.get(day) === key) held.delete(day)
    }
    // By a timer and not at the next look: a key that nobody asks for again goes as well.
    setTimeout(drop, LIFE).unref()
    // Neither a failure nor an absence is remembered: the key may be there in a moment.
    key.then((found) => found ?? drop(), drop)
  }

  const find = (day: string): Promise<KeyObject | null> => {
    const known = held.get(day)
    if (known !== undefined) return known
    const key = source.find(day).then((bytes) => bytes && importKey(bytes))
    hold(day, key)
    return key
  }

  return {
    find,
    async ensure(day) {
      const found = await find(day)
      if (found !== null) return found
      const made = source.make(day).then(importKey)
      hold(day, made)
      return made
    },
    drop: (day) => void held.delete(day),
  }
}

function importKey(bytes: Buffer): KeyObject {
  const key = createSecretKey(bytes)
  bytes.fill(0)
  return key
}
