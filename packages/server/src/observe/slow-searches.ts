/**
 * Which attributes slow searches ask about: summed up in memory and added to the database now and then, where
 * `rollcall index plan` reads them. Names of attributes only; no value of a query comes here.
 */
import type { RecordType } from '@rollcall/protocol'
import type { Predicate } from '../model/predicate.ts'
import { mentions } from '../query/mentions.ts'
import type { SlowSearches } from '../store/records/index-plan.ts'

export interface SlowSearchNotes {
  /** Notes a search if it was slow. Costs nothing when it was not; never throws and never waits. */
  note(
    registry: { readonly id: number },
    recordType: RecordType,
    predicate: Predicate,
    milliseconds: number,
  ): void
  /** Adds what was noted to the database; rows that cannot be added now are added the next time. */
  flush(): Promise<void>
  /** Flushes a last time. */
  stop(): Promise<void>
}

/** Milliseconds between two flushes. */
const PERIOD = 5_000

/** Combinations of attributes in memory between two flushes. A peer chooses them; more are not counted. */
const MOST_ROWS = 1_000

/** Attributes of one combination. A search by more of them is noted by the first ones. */
const MOST_ATTRIBUTES = 16

type Row = { -readonly [member in keyof SlowSearches]: SlowSearches[member] }

/**
 * @param options.slow milliseconds from which on a search is slow
 * @param options.save adds rows to the database
 * @param options.onFailure is called with the error of a save that failed
 */
export function createSlowSearchNotes(options: {
  readonly slow: number
  readonly save: (rows: readonly SlowSearches[]) => Promise<void>
  readonly onFailure: (error: unknown) => void
}): SlowSearchNotes {
  let rows = new Map<string, Row>()
  let flushing: Promise<void> = Promise.resolve()

  const add = (row: SlowSearches): void => {
    const key = [row.registry, row.record_type, ...row.attributes].join(' ')
    const found = rows.get(key)
    if (found !== undefined) {
      found.searches += row.searches
      found.total_ms += row.total_ms
      found.max_ms = Math.max(found.max_ms, row.max_ms)
    } else if (rows.size < MOST_ROWS) rows.set(key, { ...row })
  }

  const save = async (): Promise<void> => {
    if (rows.size === 0) return
    const taken = rows
    rows = new Map()
    try {
      await options.save([...taken.values()])
    } catch (error) {
      for (const row of taken.values()) add(row)
      options.onFailure(error)
    }
  }

  const flush = (): Promise<void> => {
    flushing = flushing.then(save)
    return flushing
  }
  // The process may end while nothing but this is left to do.
  const timer = setInterval(() => void flush(), PERIOD).unref()

  return {
    note(registry, recordType, predicate, milliseconds) {
      if (milliseconds < options.slow) return
      add({
        registry: registry.id,
        record_type: recordType.name,
        attributes: mentions(predicate).slice(0, MOST_ATTRIBUTES),
        searches: 1,
        total_ms: milliseconds,
        max_ms: milliseconds,
      })
    },
    flush,
    async stop() {
      clearInterval(timer)
      await flush()
    },
  }
}
