/** Files that a command is given, `-` for standard input. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { CommandError } from './failure.ts'

/** @throws CommandError it cannot be read */
export async function readInput(path: string): Promise<string> {
  try {
    return path === '-' ? await text(process.stdin) : await readFile(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new CommandError(`${path} cannot be read (${code})`)
  }
}
