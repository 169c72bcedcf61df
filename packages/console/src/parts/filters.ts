/** Reads and writes filters in the query of an address, converts the times in their fields, and chooses the field of a search. */

/** Reads the named members of a filter from the query of an address; empty ones are left out. */
export function readFilter(search: string, names: readonly string[]): Readonly<Record<string, string | undefined>> {
  const given = new URLSearchParams(search)
  const entries = names.map((name) => [name, given.get(name) || undefined] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** Returns a filter as the query of an address, with its `?`; empty when no member is set. */
export function filterQueryText(values: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return set.length === 0 ? '' : `?${new URLSearchParams(set)}`
}

/** Returns an ISO time as the value of a date and time field, in the reader's zone; empty for no time. */
export function localTimeOf(iso: string | undefined): string {
  const date = new Date(iso ?? '')
  if (Number.isNaN(date.getTime())) return ''
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}

/** Reads the ISO time from the value of a date and time field; undefined: none. */
export function isoTimeOf(local: string): string | undefined {
  const date = new Date(local)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** Returns the field to which the shortcut `/` leads: the first text, or the first field when there is no text. */
export const findShortcutField = <Field extends { readonly name: string; readonly options?: unknown; readonly time?: unknown }>(
  shown: readonly Field[],
): Field | undefined => shown.find(({ options, time }) => options === undefined && time === undefined) ?? shown[0]
