/** Reads files that a command is given; `-` is standard input. */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { systemReason } from '@rollcall/base/shared/system-error'
import { JsonError, type JsonValue, parseJson } from '@rollcall/protocol'
import { CommandError } from './failure.ts'

/**
 * Reads the text of a file.
 * @param option the option that names the file; undefined for an argument
 * @throws CommandError it cannot be read
 */
export async function readInput(path: string, option?: string): Promise<string> {
  try {
    return path === '-' ? await text(process.stdin) : await readFile(path, 'utf8')
  } catch (error) {
    const of = option === undefined ? '' : ` of ${option}`
    throw new CommandError(`the file ${path}${of} cannot be read: ${systemReason(error)}`)
  }
}

/** Reads the JSON of a column mapping from the file of --map. @throws CommandError it cannot be read, or is no JSON */
export async function readColumns(path: string): Promise<JsonValue> {
  return parseJsonText('the file of --map', await readInput(path, '--map'))
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
