import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { CommandError } from './failure.ts'
import { readFileOrStdin, takeStandardInput } from './input.ts'

const TWICE = new CommandError('only one file can be read from standard input (-)')

/** Puts this text into the standard input of the process, until the end of the test. */
function giveInput(...chunks: string[]): void {
  const own = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {}
  Object.defineProperty(process, 'stdin', { value: Readable.from(chunks), configurable: true })
  onTestFinished(() => void Object.defineProperty(process, 'stdin', own))
}

test.each([[['a', 'b']], [[]]])('standard input of %j is read for one file alone', async (chunks) => {
  giveInput(...chunks)
  expect(await readFileOrStdin('-', '--query')).toBe(chunks.join(''))
  await expect(readFileOrStdin('-', '--sign-key')).rejects.toThrow(TWICE)
  expect(() => takeStandardInput()).toThrow(TWICE)
})

test('of two files that are read at the same time, one is read from standard input', async () => {
  giveInput('a')
  const [one, other] = await Promise.allSettled([readFileOrStdin('-'), readFileOrStdin('-')])
  expect(one).toEqual({ status: 'fulfilled', value: 'a' })
  expect(other).toEqual({ status: 'rejected', reason: TWICE })
})

test('the next command of a process has a standard input of its own', async () => {
  giveInput('a')
  await readFileOrStdin('-')
  giveInput('b')
  expect(await readFileOrStdin('-')).toBe('b')
})
