import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryInUse } from '../../../base/test/memory.ts'
import { BodyProblem, readText } from './read-text.ts'

const encoder = new TextEncoder()

describe('readText', () => {
  it('gives the text, however it was cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.array(fc.integer({ min: 1, max: 7 })), async (text, cuts) => {
        const bytes = encoder.encode(text.toWellFormed())
        const parts: Uint8Array[] = []
        let at = 0
        for (const cut of cuts) {
          parts.push(bytes.subarray(at, at + cut))
          at += cut
        }
        parts.push(bytes.subarray(Math.min(at, bytes.length)))
        const body = ReadableStream.from(parts) as ReadableStream<Uint8Array>
        expect(await readText({ headers: new Headers(), body }, bytes.length)).toBe(text.toWellFormed())
      }),
    )
  })

  it('joins what comes in single bytes', async () => {
    const pieces = 200_000
    let pulled = 0
    let [before, most] = [0, 0]
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1
        if (pulled === 1) before = memoryInUse()
        if (pulled <= pieces) controller.enqueue(encoder.encode('x'))
        else {
          most = memoryInUse()
          controller.close()
        }
      },
    })
    expect(await readText({ headers: new Headers(), body }, pieces)).toBe('x'.repeat(pieces))
    expect(most - before).toBeLessThan(10_000_000)
  })

  it('stops as soon as there is too much', async () => {
    let pulled = 0
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(10))
      },
      cancel() {
        cancelled = true
      },
    })
    const reading = readText({ headers: new Headers(), body }, 25)
    await expect(reading).rejects.toEqual(new BodyProblem('too_large', 'must be at most 25 bytes'))
    expect(cancelled).toBe(true)
    expect(pulled).toBeLessThan(6)
  })

  it('does not begin where too much is announced', async () => {
    const headers = new Headers({ 'Content-Length': '26' })
    await expect(readText({ headers, body: null }, 25)).rejects.toThrow('must be at most 25 bytes')
    expect(await readText({ headers: new Headers(), body: null }, 25)).toBe('')
  })
})
