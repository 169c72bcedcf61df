/** The nonce of this page, without which the content security policy allows no style element. */

const meta = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')

/** A property, not an attribute: browsers hide it from selectors of styles. */
export const styleNonce = (): string => meta?.nonce ?? ''

declare global {
  /** The dependency that stops the page from scrolling below a dialog reads it. */
  var __webpack_nonce__: string | undefined
}
globalThis.__webpack_nonce__ = styleNonce()
