/** Reads files that a command is given; `-` is standard input. */
import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { systemReason } from '@rollcall/base/shared/system-error'
import { JsonError, type JsonValue, parseJson } from '@rollcall/protocol'
import { CommandError } from './failure.ts'

/** Streams of standard input that were read already. A process has one such stream; tests put others in its place. */
const alreadyReadInputs = new WeakSet<Readable>()

/** Returns standard input, which can be read only once. @throws CommandError another file of the command was read from it */
export function takeStandardInput(): Readable {
  if (alreadyReadInputs.has(process.stdin)) throw new CommandError('only one file can be read from standard input (-)')
  alreadyReadInputs.add(process.stdin)
  return process.stdin
}

/**
 * Reads the text of a file.
 * @param option the option that names the file; undefined for an argument
 * @throws CommandError the file cannot be read, or another file was read from standard input before
 */
export async function readFileOrStdin(path: string, option?: string): Promise<string> {
  const input = path === '-' ? takeStandardInput() : null
  try {
    return input === null ? await readFile(path, 'utf8') : await text(input)
  } catch (error) {
    const of = option === undefined ? '' : ` of ${option}`
    throw new CommandError(`the file ${path}${of} cannot be read: ${systemReason(error)}`)
  }
}

/** Reads the JSON of a column mapping from the file of --map. @throws CommandError it cannot be read, or is no JSON */
export async function readMappingJson(path: string): Promise<JsonValue> {
  return parseJsonText('the file of --map', await readFileOrStdin(path, '--map'))
}

/**
 * Reads JSON.
 * @param advice the right form, for the message
 * @throws CommandError the text is not JSON, or has more values than `parseJson` accepts
 */
export function parseJsonText(name: string, json: string, advice?: string): JsonValue {
  try {
    return parseJson(json)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const { message } = error
    // Many messages begin with `not JSON` already.
    const problem = message.startsWith('not JSON') ? message : `not JSON: ${message}`
    throw new CommandError(`${name} is ${problem}${advice === undefined ? '' : `; ${advice}`}`)
  }
}
