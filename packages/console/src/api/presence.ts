/** Whether somebody is there: pages that ask by themselves must not keep a session alive. */

/** After this time without a key, a pointer or a scroll, what is asked is asked by the page alone. */
const RECENT_MS = 20_000

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

/** Whether somebody does something, or the page looks by itself. */
export const presence = (): '1' | 'poll' => (performance.now() - lastInput < RECENT_MS ? '1' : 'poll')

/** The header that the server wants beside the cookie: a form or a page of another origin cannot send it. */
export const consoleHeader = () => ({ 'Rollcall-Console': presence() })
