import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BOUNDARY, multipartBody } from '../../../test/multipart.ts'
import { boundaryOf, readParts } from './multipart.ts'

const MAX = 10_000_000

/** Reads a body that comes in these pieces: returns its parts, and the fault that ended it. */
async function read(pieces: readonly Buffer[], maxBytes = MAX) {
  const parts: { name: string | null; bytes: Buffer[]; ended: boolean }[] = []
  let fault: unknown = null
  try {
    for await (const event of readParts(Readable.from(pieces, { objectMode: false }), BOUNDARY, maxBytes)) {
      if (event.is === 'part') parts.push({ name: event.name, bytes: [], ended: false })
      const part = parts.at(-1)
      if (event.is === 'data') part?.bytes.push(event.bytes)
      if (event.is === 'end' && part !== undefined) part.ended = true
    }
  } catch (error) {
    fault = error
  }
  return {
    parts: parts.map(({ name, bytes, ended }) => ({ name, content: Buffer.concat(bytes).toString('latin1'), ended })),
    fault: fault instanceof Error ? fault.message : fault,
  }
}

/** The body cut at these positions, each between 0 and 1. */
function cut(body: Buffer, positions: readonly number[]): Buffer[] {
  const at = [0, ...positions.map((position) => Math.floor(position * body.length)).sort((a, b) => a - b), body.length]
  return at.slice(1).flatMap((end, index) => (end > (at[index] ?? 0) ? [body.subarray(at[index], end)] : []))
}

describe('the parts of a body', () => {
  const content = fc
    .array(fc.constantFrom('a', '\r\n', '\r', '\n', '-', '--', `--${BOUNDARY.slice(0, -1)}`, BOUNDARY, '\0', 'ÿ'), {
      maxLength: 20,
    })
    .map((words) => words.join(''))
    .filter((text) => !`\r\n${text}\r\n`.includes(`\r\n--${BOUNDARY}`))
  const positions = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

  it('are the same however it is cut into pieces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(content, { minLength: 1, maxLength: 5 }), positions, async (contents, cuts) => {
        const parts = contents.map((text, index) => ({ name: `p${index}`, content: Buffer.from(text, 'latin1') }))
        const expected = contents.map((text, index) => ({ name: `p${index}`, content: text, ended: true }))
        expect(await read(cut(multipartBody(parts), cuts))).toEqual({ parts: expected, fault: null })
      }),
      { numRuns: 150 },
    )
  })

  it('that end early are refused, however they are cut', async () => {
    const body = multipartBody([
      { name: 'a', content: 'one' },
      { name: 'b', content: 'two' },
    ])
    // Behind its last dashes nothing is missing any more.
    const whole = body.length - 2
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole - 1 }), positions, async (length, cuts) => {
        const { fault } = await read(cut(body.subarray(0, length), cuts))
        expect(fault).toBe('body: ends before its last boundary')
      }),
      { numRuns: 150 },
    )
  })

  it.each([
    ['first', '', []],
    ['between two others', multipartBody([{ name: 'a', content: 'one' }], ''), ['a']],
  ])('without a head are refused, however they are cut: %s', async (_name, before, names) => {
    const headless = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n`
    const body = Buffer.concat([Buffer.from(before), Buffer.from(headless), multipartBody([{ name: 'b', content: 'two' }])])
    await fc.assert(
      fc.asyncProperty(positions, async (cuts) => {
        const { parts, fault } = await read(cut(body, cuts))
        expect([parts.map(({ name }) => name), fault]).toEqual([names, 'body: a part has no head'])
      }),
      { numRuns: 50 },
    )
  })

  it('may be wrapped in other text, and be large', async () => {
    const big = Buffer.alloc(3_000_000, 'x')
    const body = Buffer.concat([Buffer.from('preamble\r\n'), multipartBody([{ name: 'a', content: big }]), Buffer.from('rest')])
    const { parts, fault } = await read(cut(body, [0.1, 0.5, 0.9]))
    expect([parts.length, parts[0]?.content.length, fault]).toEqual([1, big.length, null])
  })

  it('are bounded', async () => {
    const body = multipartBody([{ name: 'a', content: Buffer.alloc(200_000, 'x') }])
    expect((await read(cut(body, [0.2, 0.4, 0.6]), 100_000)).fault).toBe('body: must be at most 100000 bytes')
  })

  it.each([
    ['form-data; name="a"', 'a'],
    ['form-data; name=a', 'a'],
    ['FORM-DATA; filename="x; name=b"; name="a"', 'a'],
    ['form-data; filename="a"', null],
    ['form-data', null],
    ['attachment; name="a"', null],
    ['form-data; name="a', null],
  ])('with Content-Disposition %s are named', async (disposition, name) => {
    const body = `--${BOUNDARY}\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n--${BOUNDARY}--`
    expect(await read([Buffer.from(body)])).toEqual({ parts: [{ name, content: 'x', ended: true }], fault: null })
  })
})

it.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data; charset=utf-8; boundary="a b"', null],
  ['multipart/form-data; charset=utf-8; boundary="a:b"', 'a:b'],
  ['Multipart/Form-Data; BOUNDARY=abc; x=y', 'abc'],
  ['multipart/form-data; boundary=', null],
  ['multipart/form-data; boundary=""', null],
  ['multipart/form-data; xboundary=abc', null],
])('the boundary of %s', (type, boundary) => {
  const named = () => boundaryOf({ 'content-type': type })
  if (boundary !== null) expect(named()).toBe(boundary)
  else expect(named).toThrow('Content-Type: multipart/form-data needs a boundary of 1 to 70 characters')
})
