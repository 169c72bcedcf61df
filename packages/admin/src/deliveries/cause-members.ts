/** The cause of a delivery's failure or end, as operators and participants read it. */

import Type from 'typebox'
import { closed, text } from '../members.ts'

export const ExplainedDeliveryCause = closed({
  cause: text('The code under which the cause is stored.'),
  meaning: text('What happened.'),
  advice: text('What to do.'),
})

export const ExplainedDeliveryCauseOrNull = Type.Union([ExplainedDeliveryCause, Type.Null()])
