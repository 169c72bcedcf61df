/** The examples in other languages, as programs that a test runs. Their tools are not of npm: `.ci/run` installs them. */
import { type ChildProcessWithoutNullStreams, execFile, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestContext } from 'vitest'

type Skips = Pick<TestContext, 'skip'>

export interface Language {
  readonly name: string
  /** The digest prefixes of the layout `parameters` that the example claims. */
  readonly prefixes: readonly string[]
  /** The words that start a program of the example. Where this machine lacks something, the test is skipped, and the reason said. */
  readonly words: (context: Skips, program: 'vectors' | 'try_demo' | 'receive') => readonly string[]
}

const examples = join(import.meta.dirname, '..')

/** A Python with the package `cryptography`: that of the system, because others come without packages. */
export function pythonOrSkip(context: Skips): string {
  for (const python of ['/usr/bin/python3', 'python3']) {
    try {
      execFileSync(python, ['-c', 'import cryptography'], { stdio: 'ignore' })
      return python
    } catch {
      // It is not installed, or lacks the package.
    }
  }
  return context.skip('python3 with the package cryptography is not installed')
}

export const PYTHON: Language = {
  name: 'python',
  prefixes: ['', 'SHA-256=', 'BLAKE-512='],
  words: (context, program) => [pythonOrSkip(context), '-B', join(examples, 'python', `${program}.py`)],
}

/** Starts a program of the example; it gets its own environment and these variables. */
export function started(words: readonly string[], env: Record<string, string> = {}): ChildProcessWithoutNullStreams {
  const [program = '', ...others] = words
  return spawn(program, others, { env: { PATH: process.env.PATH ?? '', ...env }, stdio: 'pipe' })
}

/** Runs a program to its end, also where that is a failure. */
export async function ended(words: readonly string[], input = '') {
  const [program = '', ...others] = words
  const running = promisify(execFile)(program, others, { maxBuffer: 1e8 })
  running.child.stdin?.end(input)
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  )
}
