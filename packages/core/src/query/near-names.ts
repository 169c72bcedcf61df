/** Members that are nearly called like one that is known: written wrong, they would be passed over without a word. */

/** Letters that may be added, left out or exchanged, case aside. */
const NEAR = 2
/** Longer names are near none: the known ones are shorter. */
const MAX_NAME_LENGTH = 64

interface Misspelt {
  readonly member: string
  readonly meant: string
}

/** The first member that is not known and near a known name; undefined when there is none. */
export function misspelt(object: object, known: readonly string[]): Misspelt | undefined {
  for (const member of Object.keys(object)) {
    if (known.includes(member) || member.length > MAX_NAME_LENGTH) continue
    const letters = [...member.toLowerCase()]
    const meant = known.find((name) => isNear(letters, name))
    if (meant !== undefined) return { member, meant }
  }
  return undefined
}

/**
 * Whether so few letters have to be added, left out or exchanged to make one name of the other. Most names are given up
 * after a few letters: a sender may write very many.
 */
function isNear(letters: readonly string[], name: string): boolean {
  if (Math.abs(letters.length - name.length) > NEAR) return false
  let row = Array.from({ length: name.length + 1 }, (_, index) => index)
  for (const [index, letter] of letters.entries()) {
    const next = [index + 1]
    for (let at = 0; at < name.length; at += 1) {
      const exchanged = (row[at] ?? 0) + (letter === name[at] ? 0 : 1)
      next.push(Math.min(exchanged, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    // It never becomes less again.
    if (Math.min(...next) > NEAR) return false
    row = next
  }
  return (row.at(-1) ?? 0) <= NEAR
}
