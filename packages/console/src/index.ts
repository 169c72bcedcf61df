/** Where the built pages of the console are: files for a browser, below this folder. */
export const CONSOLE_FILES = new URL('../dist/', import.meta.url)

/** Files of the partner page. */
export const PARTNER_FILES = new URL('../dist/partner/', import.meta.url)

/** The placeholder in `index.html` that the server replaces by the nonce of each response. */
export const NONCE_PLACEHOLDER = '__CSP_NONCE__'
