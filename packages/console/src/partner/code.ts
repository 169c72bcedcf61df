/** Sign-in links of the partner page. Their code is after the `#`, which browsers do not send. */

const SIGN_IN_HASH_PATTERN = /^#([1-9]\d*_[\w-]{43})$/

/** The code in the part of an address from the `#` on; null: none. */
export const findSignInCode = (hash: string): string | null => SIGN_IN_HASH_PATTERN.exec(hash)?.[1] ?? null

/** Returns the code of a sign-in link, and removes it from the address and the history; null: none. */
export function takeSignInCode(): string | null {
  const code = findSignInCode(location.hash)
  if (code !== null) history.replaceState(null, '', location.pathname)
  return code
}
