/** Reads values of the command line. */
import { timestampInstant } from '@rollcall/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import { CommandError } from './failure.ts'

/** Makes a reader of whole numbers from `min` to `max`. After the first digit `_` is allowed, as in 1_000_000. */
export function wholeNumberReader(min: number, max: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text.replaceAll('_', ''))
    if (/^\d[\d_]*$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }
}

/** Makes a reader of limits above 0, whole ones where `whole` is set. `unlimited` is read as Infinity. */
export function limitValueReader(options: { readonly whole: boolean }): (text: string) => number {
  return (text) => {
    if (text === 'unlimited') return Number.POSITIVE_INFINITY
    const value = Number(text)
    if (/^\d+(\.\d+)?$/.test(text) && value > 0 && !(options.whole && !Number.isInteger(value))) return value
    throw new InvalidArgumentError(`It must be ${options.whole ? 'a whole number' : 'a number'} above 0, or unlimited.`)
  }
}

/** Reads a time: a day, which begins at midnight UTC, or a time with a time zone. */
export function readInstant(text: string): Date {
  const milliseconds = timestampInstant(text.includes('T') ? text : `${text}T00:00:00Z`)
  if (milliseconds !== null) return new Date(milliseconds)
  throw new InvalidArgumentError('It must be a day such as 2026-07-01 or a time such as 2026-07-01T09:30:00Z.')
}

/** Reads an identifier from the form TYPE=VALUE. */
export function readTypeAndValue(text: string, name: string): { readonly type: string; readonly value: string } {
  const [, type, value] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (type !== undefined && value !== undefined) return { type, value }
  throw new CommandError(`${name} must be a type and a value, such as UIN=8128560370`)
}

/** The help of the arguments that name a person: two words, or one TYPE=VALUE. */
export const PERSON_HELP = {
  type: { help: 'type of an identifier of the person, such as UIN; or TYPE=VALUE' },
  value: { help: 'its value' },
} as const

/** Adds the arguments that name a person. `readPersonIdentifier` reads them. */
export const addPersonArguments = (command: Command): Command =>
  command.argument('<type>', PERSON_HELP.type.help).argument('[value]', PERSON_HELP.value.help)

/** Reads the person from the arguments `type` and `value`. @throws CommandError as `readPersonIdentifier` */
export const readPersonArguments = ({ type, value }: Readonly<Record<string, unknown>>) =>
  readPersonIdentifier(String(type), value === undefined ? undefined : String(value))

/** Reads a person from two words or one. @throws CommandError a single word is not TYPE=VALUE */
export const readPersonIdentifier = (
  type: string,
  value: string | undefined,
): { readonly type: string; readonly value: string } =>
  value === undefined ? readTypeAndValue(type, 'an identifier in one word') : { type, value }

/** Returns an identifier with the member names `identifier_type` and `identifier_value`. */
export const renameIdentifierMembers = ({ type, value }: ReturnType<typeof readPersonIdentifier>) => ({
  identifier_type: type,
  identifier_value: value,
})

/** Reads values in the form NAME=VALUE into an object. A value without a name gets the name `unnamed`. */
export const readNameValuePairs = (given: readonly string[], unnamed: string): Record<string, string> =>
  Object.fromEntries(
    given.map((text): [string, string] => {
      const at = text.indexOf('=')
      return at < 0 ? [unnamed, text] : [text.slice(0, at), text.slice(at + 1)]
    }),
  )

/** Adds the text of an option to those before it, for options that may be given several times. */
export function collectOption(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}
