import { readFileSync } from 'node:fs'
import { DELIVERY_CAUSES, explainCause } from '@rollcall/delivery/delivery/causes'
import { expect, test } from 'vitest'
import { makeStepOfEvent, TIMELINE_STEPS } from './steps.ts'

const page = (name: string): string => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8')

test('every step is a section of docs/message-flow.md, and every section is a step', () => {
  const [, timeline = ''] = page('message-flow.md').split('## The timeline of a message\n')
  const [section = ''] = timeline.split('\n## ')
  expect([...section.matchAll(/^### (.*)$/gm)].map(([, name]) => name)).toEqual(TIMELINE_STEPS)
})

test('every cause in docs/deliveries.md is explained', () => {
  const [, section = ''] = page('deliveries.md').split('| The peer | Recorded as |')
  const [table = ''] = section.split('\n\n')
  const named = [...table.matchAll(/`([a-z_0-9]+)`/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(15)
  const unknown = named.filter((name) => name !== 'address_' && !Object.hasOwn(DELIVERY_CAUSES, name))
  expect(unknown).toEqual([])
  for (const { meaning, advice } of Object.values(DELIVERY_CAUSES)) {
    expect([meaning.endsWith('.'), advice.endsWith('.')]).toEqual([true, true])
  }
  expect([explainCause(null), explainCause('toString'), explainCause('timeout')?.cause]).toEqual([...[null, null, 'timeout']])
})

test('a step says what happened, and never what a receiver or a person sent', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const of = { at, delivery: 'd-1', page: 2 }
  expect(makeStepOfEvent({ ...of, event: 'attempt', number: 3, duration_ms: 12, status: 503, error: 'http_5xx' })).toEqual({
    step: 'attempt',
    at,
    duration_ms: 12,
    outcome: 'failed',
    code: 'http_5xx',
    key: null,
    delivery: 'd-1',
    page: 2,
    attempt: 3,
    status: 503,
    message: DELIVERY_CAUSES.http_5xx.meaning,
  })
  expect(makeStepOfEvent({ ...of, event: 'dead', reason: 'expired' })).toMatchObject({
    step: 'ended',
    outcome: 'failed',
    code: 'expired',
    message: `It was given up. ${DELIVERY_CAUSES.expired.meaning}`,
  })
  expect(makeStepOfEvent({ ...of, event: 'attempt due', number: 4 })).toMatchObject({
    step: 'next',
    outcome: 'waiting',
    attempt: 4,
  })
  expect(makeStepOfEvent({ ...of, event: 'sent again' })).toMatchObject({
    step: 'replayed',
    message: 'An operator or the participant asked for it again.',
  })
  // The reason may be that the person is protected or was erased, which the message must not tell.
  expect(makeStepOfEvent({ at, event: 'left out' })).toMatchObject({
    step: 'ended',
    message: 'It is not sent, for example because its subscription was taken back or is not permitted any more.',
  })
  expect(makeStepOfEvent({ at, event: 'accepted', items: 1 }).message).toBe('The request was accepted with 1 item.')
})
