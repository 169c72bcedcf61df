/** The code of a one-time link. It stands behind the `#`, where no log sees it, and leaves the address at once. */

const CODE = /^#([1-9]\d*_[\w-]{43})$/

export const codeIn = (hash: string): string | null => CODE.exec(hash)?.[1] ?? null

/** The code in the address, which is not left there and in the history; null: there is none. */
export function takeCode(): string | null {
  const code = codeIn(location.hash)
  if (code !== null) history.replaceState(null, '', location.pathname)
  return code
}
