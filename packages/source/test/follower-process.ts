/** Runs the follower of a source as a process of its own that can be killed, and makes random changes with such deaths. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fc from 'fast-check'
import type pg from 'pg'
import { inject } from 'vitest'
import { PROPERTY_SEED } from '../../../test/property-seed.ts'
import { officeChange } from './office-changes.ts'

/** Follows the sources of a database. @param env the variables with the addresses of sources */
export function followAlone(connection: pg.ClientConfig, env: Readonly<Record<string, string>>): ChildProcess {
  const words = [inject('programs').following, JSON.stringify(connection)]
  return spawn(process.execPath, words, { env: { ...process.env, ...env }, stdio: 'ignore' })
}

/** Ends a process at once, and waits for its end. */
export async function kill(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  if (child.kill('SIGKILL')) await ended
}

const steps = fc.array(
  fc.record({
    /** The statements of a transaction. */
    changes: fc.array(officeChange, { minLength: 1, maxLength: 6 }),
    isKept: fc.boolean(),
    /** Who is killed after it. */
    kill: fc.constantFrom('follower', 'source', null, null),
  }),
  { minLength: 8, maxLength: 8 },
)

export const transactionsWithKills = () => fc.sample(steps, { numRuns: 1, seed: PROPERTY_SEED })[0] ?? []
