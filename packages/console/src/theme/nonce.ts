/** The nonce of this page, without which the content security policy allows no style element. */

const meta = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')

/** Hidden from selectors of styles, so it is a property, not an attribute. */
export const styleNonce = (): string => meta?.nonce ?? ''

declare global {
  /** Where the part that stops the page from scrolling below a dialog looks for it. */
  var __webpack_nonce__: string | undefined
}
globalThis.__webpack_nonce__ = styleNonce()
