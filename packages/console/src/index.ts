/** Where the built pages of the console are: files for a browser, below this folder. */
export const CONSOLE_FILES = new URL('../dist/', import.meta.url)

/** Files of the partner page. */
export const PARTNER_FILES = new URL('../dist/partner/', import.meta.url)

/** Stands in `index.html` where the nonce of the response belongs: the server puts in a new one each time. */
export const NONCE_PLACEHOLDER = '__CSP_NONCE__'
