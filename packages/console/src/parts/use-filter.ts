/** The filter of a list, in the address: a link leads to the same rows, and the browser's way back works. */
import { useLocation, useSearch } from 'wouter'
import { filterText, readFilter } from './filters.ts'

type Values = Readonly<Record<string, string | undefined>>

export interface Filter {
  readonly values: Values
  /** A member other than `before` is set. */
  readonly isSet: boolean
  /** Changes members; undefined removes one. A changed condition begins at the newest row again. */
  readonly set: (changes: Values) => void
  readonly clear: () => void
}

/**
 * @param names members that the list has; others in the address are left out
 * @param view the view with the list, which stays in the address
 */
export function useFilter(names: readonly string[], view?: string): Filter {
  const search = useSearch()
  const [path, navigate] = useLocation()
  const values = readFilter(search, [...names, 'before'])
  const go = (next: Values) => navigate(`${path}${filterText({ view, ...next })}`)
  return {
    values,
    isSet: names.some((name) => values[name] !== undefined),
    set: (changes) => go({ ...values, before: undefined, ...changes }),
    clear: () => go({}),
  }
}
