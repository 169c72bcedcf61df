/** Three-valued logic as its tables, written out. */

/** The value of a condition. */
export type Answer = 'yes' | 'no' | 'unknown'

type Table = Readonly<Record<Answer, Readonly<Record<Answer, Answer>>>>

const AND: Table = {
  yes: { yes: 'yes', no: 'no', unknown: 'unknown' },
  no: { yes: 'no', no: 'no', unknown: 'no' },
  unknown: { yes: 'unknown', no: 'no', unknown: 'unknown' },
}

const OR: Table = {
  yes: { yes: 'yes', no: 'yes', unknown: 'yes' },
  no: { yes: 'yes', no: 'no', unknown: 'unknown' },
  unknown: { yes: 'yes', no: 'unknown', unknown: 'unknown' },
}

const NOT: Readonly<Record<Answer, Answer>> = { yes: 'no', no: 'yes', unknown: 'unknown' }

export function all(answers: readonly Answer[]): Answer {
  return answers.reduce((sofar, answer) => AND[sofar][answer])
}

export function some(answers: readonly Answer[]): Answer {
  return answers.reduce((sofar, answer) => OR[sofar][answer])
}

export function opposite(answer: Answer): Answer {
  return NOT[answer]
}

export function certain(yes: boolean): Answer {
  return yes ? 'yes' : 'no'
}

/** `yes` if the condition is true of every day that a date may mean, `no` if of none, otherwise `unknown`. */
export function ofEvery<Day>(days: readonly Day[], ask: (day: Day) => boolean): Answer {
  const answers = new Set(days.map(ask))
  if (answers.size === 2) return 'unknown'
  return certain(answers.has(true))
}
