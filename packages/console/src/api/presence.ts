/** Knows whether somebody uses the page: calls that a page makes by itself must not keep a session alive. */

/** After so many milliseconds without a key, a pointer, a scroll or a new address, calls count as the page's own. */
const RECENT_INPUT_MS = 20_000

let lastInput = performance.now()

for (const name of ['pointermove', 'pointerdown', 'keydown', 'scroll', 'hashchange']) {
  addEventListener(
    name,
    () => {
      lastInput = performance.now()
    },
    { passive: true, capture: true },
  )
}

/**
 * '1' when the page was opened, or a person made an input, within the last `RECENT_INPUT_MS`; otherwise 'poll'. For the server,
 * only a call with '1' is an act of a person, which keeps the session alive.
 */
export const presenceHeaderValue = (): '1' | 'poll' => (performance.now() - lastInput < RECENT_INPUT_MS ? '1' : 'poll')

/** The header that the server requires besides the cookie: a form or a page of another origin cannot send it. */
export const consoleHeader = () => ({ 'Rollcall-Console': presenceHeaderValue() })
