import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { COUNT_LIMIT, generate, generateLines, KIND_GENERATORS } from './generate.ts'

const kinds = KIND_GENERATORS.map((generator) => generator.kind)

describe.each(kinds)('%s', (kind) => {
  test('is the same for the same seed, and another for another', () => {
    const lines = [...generateLines(kind, { count: 300, seed: 7 })]
    expect([...generateLines(kind, { count: 300, seed: '7' })]).toEqual(lines)
    expect(lines).toHaveLength(300)
    expect([...generateLines(kind, { count: 1, seed: 8 })][0]).not.toBe(lines[0])
  })

  test('a longer run begins with a shorter one, and runs may be interleaved', () => {
    const sizes = fc.tuple(fc.integer(), fc.nat({ max: 120 }), fc.nat({ max: 120 }))
    fc.assert(
      fc.property(sizes, ([seed, one, other]) => {
        const alone = [...generateLines(kind, { count: one + other, seed })]
        const beside = generateLines(kind, { count: one + other, seed: seed + 1 })[Symbol.iterator]()
        const mixed: string[] = []
        for (const line of generateLines(kind, { count: one, seed })) {
          beside.next()
          mixed.push(line)
        }
        expect(mixed).toEqual(alone.slice(0, one))
      }),
      { numRuns: 10 },
    )
  })

  test('every document bears @context and @type', () => {
    for (const document of generate(kind, { count: 100, seed: 3 })) {
      expect(document).toMatchObject({ '@context': [expect.any(String), expect.any(String)] })
      expect(document).toHaveProperty('@type')
    }
  })

  test('every line is one well-formed JSON object without NUL', () => {
    for (const line of generateLines(kind, { count: 2000, seed: 21 })) {
      expect(line.isWellFormed()).toBe(true)
      expect(/\n|\\u0000|\\ud[89a-f]/i.test(line)).toBe(false)
      expect(line.length).toBeLessThan(6000)
      expect(JSON.parse(line)).toBeTypeOf('object')
    }
  })
})

test('civil documents are mostly of 0.8 to 1.5 KB', () => {
  const sizes = [...generateLines('civil', { count: 2000, seed: 1 })].map((line) => Buffer.byteLength(line))
  expect(sizes.filter((size) => size > 800 && size < 1550).length / sizes.length).toBeGreaterThan(0.75)
})

test('a kind without documents is refused at the call, by a message that names those with some', () => {
  const message = `no synthetic documents for kind "police"; there are some for ${kinds.join(', ')}`
  expect(() => generate('police', { count: 1, seed: 1 })).toThrow(new RangeError(message))
})

test.each([-1, 1.5, Number.NaN, COUNT_LIMIT + 1])('count %s is refused at the call', (count) => {
  const message = `count must be a whole number from 0 to 100000000, not ${count}`
  expect(() => generateLines('civil', { count, seed: 1 })).toThrow(new RangeError(message))
})

test('the last document of the longest run can be made', () => {
  for (const { document } of KIND_GENERATORS) {
    expect(document({ low: 1, high: 2 }, COUNT_LIMIT - 1)).toHaveProperty('@type')
  }
})

test('memory stays flat over 50,000 lines', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const lines = generateLines('civil', { count: 50_000, seed: 1 })[Symbol.iterator]()
  for (let at = 0; at < 1000; at++) lines.next()
  const before = heap()
  for (let at = 1000; at < 49_999; at++) lines.next()
  expect(heap() - before).toBeLessThan(1_000_000)
  expect(lines.next().done).toBe(false)
  expect(lines.next().done).toBe(true)
})

test('the first person of the demo has no active enrolment: docs/tutorial-integrator.md says why', () => {
  const [person] = generate('ibr', { count: 1, seed: 'demo' })
  const text = JSON.stringify(person)
  expect(text).toContain('"member_identifier":"8128560370"')
  expect([...text.matchAll(/"enrolment_status":"([^"]*)"/g)].map(([, status]) => status)).toEqual([...['Suspended', '4']])
})
