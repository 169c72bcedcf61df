/** Times two ways to do the same thing in turns, so that what else runs on the machine meets both. */
import { median, percentile, rounded } from '../shared/statistics.ts'

export interface Timed {
  readonly p50_ms: number
  readonly p99_ms: number
}

export interface Beside {
  readonly ours: Timed
  readonly floor: Timed
  /** The floor's median divided by ours: 1 is as fast. */
  readonly ratio: number
}

/** @param questions asked in turns, over and over, until so many of them were */
export async function beside<Question>(
  questions: readonly Question[],
  times: number,
  sides: { ours(question: Question): Promise<void>; floor(question: Question): Promise<void> },
): Promise<Beside> {
  const ours: number[] = []
  const floor: number[] = []
  // Once around without a clock: connections, statements and pages of the database are then as they stay.
  for (const question of questions) {
    await sides.floor(question)
    await sides.ours(question)
  }
  for (let turn = 0; turn < times; turn += 1) {
    const question = questions[turn % questions.length] as Question
    // The two sides take turns at being first, because the second one finds its pages in memory.
    if (turn % 2 === 0) {
      floor.push(await timed(() => sides.floor(question)))
      ours.push(await timed(() => sides.ours(question)))
    } else {
      ours.push(await timed(() => sides.ours(question)))
      floor.push(await timed(() => sides.floor(question)))
    }
  }
  return { ours: summary(ours), floor: summary(floor), ratio: rounded(median(floor) / median(ours), 3) }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function summary(values: readonly number[]): Timed {
  return { p50_ms: rounded(median(values), 3), p99_ms: rounded(percentile(values, 0.99), 3) }
}

/** The median time of one call in microseconds, from rounds of so many calls. */
export function microseconds(work: () => void, { rounds, calls }: { rounds: number; calls: number }): number {
  for (let call = 0; call < calls; call += 1) work()
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now()
    for (let call = 0; call < calls; call += 1) work()
    times.push(((performance.now() - start) * 1_000) / calls)
  }
  return rounded(median(times), 3)
}
