/** Programs that are not of npm, and which tests use where they are installed: `.ci/run` installs them. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'vitest'

/** Null: it is not installed. */
export function findProgram(name: string): string | null {
  // Those of an administrator are not in the PATH of everybody.
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not in this folder.
    }
  }
  return null
}

/** The path of a program. Where it is not installed, the test is skipped, and the end of the run says why. */
export const programOrSkip = ({ skip }: Pick<TestContext, 'skip'>, name: string): string =>
  findProgram(name) ?? skip(`${name} is not installed`)
