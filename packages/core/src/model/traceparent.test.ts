import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import { makeTraceparent, readTraceparent } from './traceparent.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const GOOD = `00-${TRACE}-${SPAN}-01`

it.each([
  [GOOD, GOOD],
  [`00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
  // A later version: its first four members are understood (W3C Trace Context, 3.2.3).
  [`cc-${TRACE}-${SPAN}-01`, GOOD],
  [`cc-${TRACE}-${SPAN}-01-what-comes-later`, GOOD],
])('%s is read as %s', (header, read) => {
  expect(readTraceparent(header)).toBe(read)
})

it.each([
  undefined,
  [GOOD, GOOD],
  '',
  GOOD.toUpperCase(),
  ` ${GOOD}`,
  `${GOOD}\n`,
  `${GOOD}-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.slice(1)}-${SPAN}-01`,
  `cc-${TRACE}-${SPAN}-01more`,
  `cc-${TRACE}-${SPAN}-01-${'a'.repeat(255)}`,
])('%j is not valid', (header) => {
  expect(readTraceparent(header)).toBeNull()
})

test('what is passed on is one of ours in form, whatever comes', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => GOOD + text),
      ),
      (header) => {
        const read = readTraceparent(header)
        if (read !== null) expect(read).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
      },
    ),
  )
})

test('a trace of our own is valid', () => {
  const own = makeTraceparent('3B241101-e2bb-4255-8caf-4136c566a962')
  expect(readTraceparent(own)).toBe(own)
  expect(own).toMatch(/^00-3b241101e2bb42558caf4136c566a962-[0-9a-f]{16}-00$/)
})
