/** Reads shortcuts of one key, or of `g` and a second key shortly after it. */

/** The first key of shortcuts that have two keys. */
const SHORTCUT_FIRST_KEY = 'g'

/**
 * Returns a function that takes a pressed key and the time of the press in milliseconds. It returns the pressed shortcut, known
 * or not; null when `g` is the first key.
 * @param patience_ms the most milliseconds from `g` to the second key
 */
export function createShortcutReader(patience_ms: number): (key: string, at: number) => string | null {
  let begun: number | null = null
  return (key, at) => {
    const isSecond = begun !== null && at - begun < patience_ms
    begun = null
    if (isSecond) return `${SHORTCUT_FIRST_KEY} ${key}`
    if (key !== SHORTCUT_FIRST_KEY) return key
    begun = at
    return null
  }
}
