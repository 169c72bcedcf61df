/** The code of a one-time link. It is after the `#`, where no log sees it, and is removed from the address at once. */

const CODE = /^#([1-9]\d*_[\w-]{43})$/

export const codeIn = (hash: string): string | null => CODE.exec(hash)?.[1] ?? null

/** Takes the code out of the address and the history; null for none. */
export function takeCode(): string | null {
  const code = codeIn(location.hash)
  if (code !== null) history.replaceState(null, '', location.pathname)
  return code
}
