import { expect, test } from 'vitest'
import { createFloodLimitingLog } from './log.ts'

/** A flood log on a clock that goes on when it is told to. */
function flood(most: number) {
  const told: [string | null, number][] = []
  const due: (() => void)[] = []
  const log = createFloodLimitingLog<{ name: string }>({
    period: 1_000,
    most,
    report: (subject, count) => told.push([subject?.name ?? null, count]),
    later: (work, milliseconds) => {
      expect(milliseconds).toBe(1_000)
      due.push(work)
    },
  })
  const period = (): void => {
    for (const work of due.splice(0)) work()
  }
  const taken = () => told.splice(0)
  return { note: (name: string) => log.note({ name }), period, taken, due }
}

test('the first is told at once, all that follow as one count per period', () => {
  const { note, period, taken } = flood(10)
  for (let time = 0; time < 4_000; time += 1) note('forged')
  note('stale')
  expect(taken()).toEqual([
    ['forged', 1],
    ['stale', 1],
  ])
  period()
  expect(taken()).toEqual([['forged', 3_999]])
})

test('what was quiet for a period is told at once again, and nothing is scheduled for what is over', () => {
  const { note, period, taken, due } = flood(10)
  note('forged')
  period()
  expect(due).toHaveLength(0)
  note('forged')
  note('forged')
  expect(taken()).toEqual([
    ['forged', 1],
    ['forged', 1],
  ])
  period()
  expect(taken()).toEqual([['forged', 1]])
})

test('subjects beyond the bound are counted together', () => {
  const { note, period, taken } = flood(2)
  for (let number = 0; number < 1_000; number += 1) note(`address ${number}`)
  expect(taken()).toHaveLength(2)
  period()
  expect(taken()).toEqual([[null, 998]])
})
