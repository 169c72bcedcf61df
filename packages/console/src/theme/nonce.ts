/** The nonce of this page, without which the content security policy allows no style element. */

const nonceElement = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')

/** Returns the nonce, read as a property: browsers hide the attribute from style selectors. */
export const styleNonce = (): string => nonceElement?.nonce ?? ''

declare global {
  /** The dependency that stops the page from scrolling below a dialog reads this variable. */
  var __webpack_nonce__: string | undefined
}
globalThis.__webpack_nonce__ = styleNonce()
