import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'

/** Milliseconds after which a node reads anew what it knows of participants, registries and what a day has had. */
export const SETTINGS_AGE = 500

export interface TestClock extends Clock {
  /** Lets so many milliseconds pass, and does what is due in them. */
  pass(milliseconds: number): void
}

/** A clock that stands still unless time is let pass. Its date begins as the real one. */
export function testClock(): TestClock {
  const begin = Date.now()
  let passed = 0
  let waiting: { readonly due: number; readonly work: () => void }[] = []
  return {
    now: () => passed,
    date: () => begin + passed,
    later: (work, milliseconds) => void waiting.push({ due: passed + milliseconds, work }),
    pass(milliseconds) {
      const end = passed + milliseconds
      for (;;) {
        const [next] = waiting.filter(({ due }) => due <= end).toSorted((a, b) => a.due - b.due)
        if (next === undefined) break
        waiting = waiting.filter((other) => other !== next)
        passed = Math.max(passed, next.due)
        next.work()
      }
      passed = end
    },
  }
}

/** The real clock, which skips ahead when time is let pass; what is due later is not done any sooner. */
export function skippingClock(): TestClock {
  let skipped = 0
  return {
    now: () => SYSTEM_CLOCK.now() + skipped,
    date: () => SYSTEM_CLOCK.date() + skipped,
    later: SYSTEM_CLOCK.later,
    pass(milliseconds) {
      skipped += milliseconds
    },
  }
}
