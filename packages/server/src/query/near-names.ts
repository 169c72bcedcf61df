/** Members that are nearly called like one that is known: written wrong, they would be passed over without a word. */

/** Letters that may be added, left out or exchanged, case aside. */
const NEAR = 2
/** Longer names are near none: the known ones are shorter. */
const LONGEST = 64

export interface Misspelt {
  readonly member: string
  readonly meant: string
}

/** The first member that is not known and near a known name; undefined when there is none. */
export function misspelt(object: object, known: readonly string[]): Misspelt | undefined {
  for (const member of Object.keys(object)) {
    if (known.includes(member) || member.length > LONGEST) continue
    const meant = known.find((name) => distance(member.toLowerCase(), name) <= NEAR)
    if (meant !== undefined) return { member, meant }
  }
  return undefined
}

/** How many letters have to be added, left out or exchanged to make one text of the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1]
    for (const [place, wanted] of [...other].entries()) {
      const exchanged = (row[place] ?? 0) + (letter === wanted ? 0 : 1)
      next.push(Math.min(exchanged, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
