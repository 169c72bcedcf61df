/** Shortcuts of one key, or of `g` and a second key shortly after it. */

/** The first of two keys. */
const FIRST = 'g'

/** @returns reads a key at a time in milliseconds; answers with what was pressed, null where more is to come */
export function keysPressed(patience_ms: number): (key: string, at: number) => string | null {
  let begun: number | null = null
  return (key, at) => {
    const isSecond = begun !== null && at - begun < patience_ms
    begun = null
    if (isSecond) return `${FIRST} ${key}`
    if (key !== FIRST) return key
    begun = at
    return null
  }
}
