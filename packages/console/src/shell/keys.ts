/** Reads shortcuts of one key, or of `g` and a second key shortly after it. */

/** The first key of shortcuts that have two keys. */
const SHORTCUT_FIRST_KEY = 'g'

/** Returns a reader of keys: it takes a key and its time, and returns the shortcut, or null while a key is missing. */
export function createKeyReader(patience_ms: number): (key: string, at: number) => string | null {
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
