/** Where the built pages of the console are: files for a browser, below this folder. */
export const CONSOLE_FILES = new URL('../dist/', import.meta.url)
