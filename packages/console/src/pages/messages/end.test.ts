import { expect, it } from 'vitest'
import { messageOutcomeLabel } from './end.ts'

it.each([
  ['answer', 'succeeded', null, 'succeeded', 'good'],
  ['acknowledgement', 'accepted', null, 'accepted', 'info'],
  ['callback', 'succeeded', 'delivered', 'succeeded', 'good'],
  ['callback', 'rejected', 'delivered', 'rejected', 'bad'],
  ['callback', 'succeeded', 'pending', 'answered, delivery waiting', 'info'],
  ['callback', 'partial', 'dead', 'partly answered, delivery failed', 'bad'],
  ['callback', 'rejected', 'held', 'rejected, delivery held', 'warn'],
  ['callback', 'succeeded', 'dropped', 'answered, delivery dropped', 'quiet'],
  ['callback', 'succeeded', null, 'answered', 'quiet'],
  ['notification', 'succeeded', 'refused', 'composed, delivery refused', 'bad'],
])('a %s that %s, with a delivery that is %s, is "%s"', (kind, outcome, delivery, label, tone) => {
  expect(messageOutcomeLabel({ kind, outcome, delivery })).toEqual({ label, tone })
})
