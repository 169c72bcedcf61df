/** Keeps the filter of a list in the address, so that links and the back button of the browser work. */
import { useLocation, useSearch } from 'wouter'
import { filterQueryText, readFilter } from './filters.ts'

type FilterValues = Readonly<Record<string, string | undefined>>

export interface Filter {
  readonly values: FilterValues
  /** True if a condition of the filter is set. */
  readonly isSet: boolean
  /** Changes conditions; undefined removes a condition. If `before` is not given, the list begins at its newest row again. */
  readonly set: (changes: FilterValues) => void
  readonly clear: () => void
}

/**
 * Reads and changes the filter of a list.
 * @param names members of the filter; others in the address are left out
 */
export function useFilter(names: readonly string[]): Filter {
  const search = useSearch()
  const [path, navigate] = useLocation()
  const values = readFilter(search, [...names, 'before'])
  const go = (next: FilterValues) => navigate(`${path}${filterQueryText(next)}`)
  return {
    values,
    isSet: names.some((name) => values[name] !== undefined),
    set: (changes) => go({ ...values, before: undefined, ...changes }),
    clear: () => go({}),
  }
}
