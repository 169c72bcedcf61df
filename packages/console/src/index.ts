/** The folder of the console's built files, for browsers. */
export const CONSOLE_FILES = new URL('../dist/', import.meta.url)

/** The folder of the partner page's built files. */
export const PARTNER_FILES = new URL('../dist/partner/', import.meta.url)

/** The placeholder in built pages that the server replaces by the nonce of each response. */
export const NONCE_PLACEHOLDER = '__CSP_NONCE__'
