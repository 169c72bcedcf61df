/** One line for many: what happens again and again is logged when it happens first, and then as a count per period. */

export interface FloodLog<Subject extends object> {
  /** It happened. Never waits and never throws. */
  note(subject: Subject): void
}

/** Calls back once, after so many milliseconds. */
export type Schedule = (work: () => void, milliseconds: number) => void

const later: Schedule = (work, milliseconds) => void setTimeout(work, milliseconds).unref()

/**
 * @param options.period milliseconds from one line about a subject to the next
 * @param options.most subjects that are told apart at a time: whoever causes them may be able to make them up
 * @param options.report how often a subject was noted since the last report; null: subjects beyond `most`, together
 */
export function createFloodLog<Subject extends object>(options: {
  readonly period: number
  readonly most: number
  readonly report: (subject: Subject | null, count: number) => void
  readonly schedule?: Schedule
}): FloodLog<Subject> {
  const { period, most, report, schedule = later } = options
  const held = new Map<string, { readonly subject: Subject; count: number }>()
  let others = 0
  let scheduled = false

  const tell = (): void => {
    scheduled = false
    for (const [key, entry] of held) {
      // Quiet for a whole period: the next one is the first again.
      if (entry.count === 0) held.delete(key)
      else report(entry.subject, entry.count)
      entry.count = 0
    }
    if (others > 0) report(null, others)
    others = 0
    if (held.size > 0) arm()
  }
  const arm = (): void => {
    if (scheduled) return
    scheduled = true
    schedule(tell, period)
  }

  return {
    note(subject) {
      const key = JSON.stringify(subject)
      const known = held.get(key)
      if (known !== undefined) known.count += 1
      else if (held.size >= most) others += 1
      else {
        held.set(key, { subject, count: 0 })
        report(subject, 1)
      }
      arm()
    },
  }
}
