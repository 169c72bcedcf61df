/** Words of messages: a number with its noun, and the known name that a misspelled name most likely means. */

/** A number with a noun in singular or plural: `1 process`, `2 processes`. */
export const countWithNoun = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** The name in lower case, without separators between its words. */
export const comparableName = (name: string): string => name.toLowerCase().replace(/[\s_.:-]+/g, '')

/** The number of characters of a name that are compared. The rest of a longer name is ignored. */
const MOST_COMPARED_CHARACTERS = 80

/**
 * The name most similar to `given`, without regard to case and separators; the first one if several are equally
 * similar. Undefined when no name is near: more than a third of the longer name's characters would have to change.
 */
export function nearestName(given: string, names: Iterable<string>): string | undefined {
  const wanted = comparableName(given).slice(0, MOST_COMPARED_CHARACTERS)
  let nearest: { readonly name: string; readonly distance: number } | undefined
  for (const name of names) {
    const known = comparableName(name).slice(0, MOST_COMPARED_CHARACTERS)
    const longest = Math.max(wanted.length, known.length)
    const allowed = Math.min(Math.floor(longest / 3), (nearest?.distance ?? longest) - 1)
    if (Math.abs(wanted.length - known.length) > allowed) continue
    const distance = editDistance(wanted, known)
    if (distance <= allowed) nearest = { name, distance }
  }
  return nearest?.name
}

/** The end of a message, such as `; the nearest is birth_date`; empty when no name is near. */
export function nearestNameHint(given: string, names: Iterable<string>): string {
  const nearest = nearestName(given, names)
  return nearest === undefined ? '' : `; the nearest is ${nearest}`
}

/** The least number of changes between two texts: add, remove or replace a character, or exchange two neighbours. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1]
      const isExchanged = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      line[column] = Math.min(
        (last[column] ?? 0) + 1,
        (line[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        row > 1 && column > 1 && isExchanged ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = line
  }
  return last[other.length] ?? 0
}
