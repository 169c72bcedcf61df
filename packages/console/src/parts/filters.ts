/** Filters of lists as the part of an address behind the `?`. */

export function readFilter(
  search: string,
  names: readonly string[],
): Readonly<Record<string, string | undefined>> {
  const given = new URLSearchParams(search)
  const entries = names.map((name) => [name, given.get(name) || undefined] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** With its `?`; nothing where no member is set. */
export function filterText(values: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return set.length === 0 ? '' : `?${new URLSearchParams(set)}`
}
