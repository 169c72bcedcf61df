/** Finds misspelt members: unknown names that are close to a known one. To ignore them would be dangerous. */

/** The most letters that may be added, missing or replaced in a near name. Case does not matter. */
const MOST_LETTER_EDITS = 2
/** Names with more characters are not compared: they count as close to no known name. */
const MOST_COMPARED_NAME_LENGTH = 64

interface MisspeltMember {
  readonly member: string
  readonly meant: string
}

/** The first unknown member that is close to a known name, and that name; undefined when there is none. */
export function findMisspeltMember(object: object, known: readonly string[]): MisspeltMember | undefined {
  for (const member of Object.keys(object)) {
    if (known.includes(member) || member.length > MOST_COMPARED_NAME_LENGTH) continue
    const letters = [...member.toLowerCase()]
    const meant = known.find((name) => isSimilarSpelling(letters, name))
    if (meant !== undefined) return { member, meant }
  }
  return undefined
}

/**
 * True when at most `MOST_LETTER_EDITS` letters must be added, removed or replaced to turn one name into the other. It
 * stops as soon as this is impossible, because a sender may write very many names.
 */
function isSimilarSpelling(letters: readonly string[], name: string): boolean {
  if (Math.abs(letters.length - name.length) > MOST_LETTER_EDITS) return false
  let row = Array.from({ length: name.length + 1 }, (_, index) => index)
  for (const [index, letter] of letters.entries()) {
    const next = [index + 1]
    for (let at = 0; at < name.length; at += 1) {
      const exchanged = (row[at] ?? 0) + (letter === name[at] ? 0 : 1)
      next.push(Math.min(exchanged, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    // A row of the table of edit distances. No later row has a number below the smallest of this row: the names are not near.
    if (Math.min(...next) > MOST_LETTER_EDITS) return false
    row = next
  }
  return (row.at(-1) ?? 0) <= MOST_LETTER_EDITS
}
