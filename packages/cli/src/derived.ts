/** Makes commands of admin functions: their input is arguments and options, and their result is printed. */
import { Argument, type Command, Option } from 'commander'
import type { Deps } from './environment.ts'
import { EXIT } from './failure.ts'
import { factsText, type OutputOptions, print, withJson } from './output.ts'
import type { Member } from './schema-reader.ts'
import { stopRequest } from './stop.ts'
import type { Leaf } from './subject.ts'

/** An admin function, as a command calls it. */
export interface AdminFunction<Input, Result, More> {
  (deps: Deps & More, input: Input): Promise<Result>
  readonly input: { readonly properties?: object }
  /** Only admin functions have this member. */
  readonly act: object | null
}

/** How a member is written on the command line, where its schema is not enough. */
interface Spelling {
  /** For example `--participant <sender_id>`; by default the member's own name. */
  readonly flags?: string
  /** By default the schema's description. */
  readonly help?: string
  readonly default?: number | string
  /** The word for null; `none` by default. */
  readonly none?: string
  /** The words for true and false, in place of a flag. */
  readonly words?: readonly [string, string]
  /** Reads one value; by default the member's type says how. */
  readonly read?: (text: string, before: never) => unknown
}

/** Values of the command line, by members and options. */
type Given<Input> = Input & Readonly<Record<string, unknown>>

interface Row<Input, Result, More> {
  /** One line for the list of commands; absent for a row of `later`. */
  readonly about?: string
  /** Members that are arguments, as in `namespace [record_type]` or `[ids...]`. `input` reads those in `<>`. */
  readonly args?: string
  /** Spellings of members: flags or more; null for no option. By default the option is `--` and the name. */
  readonly options?: Readonly<Record<string, string | Spelling | null>>
  /** Options that are no members: flags and meaning. A `!` before the meaning: the option is required. */
  readonly more?: Readonly<Record<string, string>>
  /** A text below the options. */
  readonly notes?: string
  /** Arguments of examples, or whole lines with the command's name. */
  readonly examples: readonly string[]
  /** Members whose text is read from a file that the command line names. */
  readonly reads?: readonly string[]
  /** The member that a YAML file has: its option names the file, and a refusal names the line. */
  readonly file?: string
  /** Adds data of the operator, which the database of a demo refuses. */
  readonly adds?: true
  /** Prints `limit` rows (50 by default), and says whether there are more. */
  readonly pages?: true
  /** Further dependencies of the function. */
  readonly deps?: (deps: Deps, given: Given<Input>) => More | Promise<More>
  /** Members of the input that are computed; the others stay as given. */
  readonly input?: (given: Given<Input>) => Partial<Input> | Promise<Partial<Input>>
  /** True for exit code 1. */
  readonly failed?: (result: Result) => boolean
  /** The result as text; by default a line for each member. */
  readonly text?: (result: Result, given: Given<Input>, more: More) => string | Promise<string>
}

/** A command that calls an admin function, which `load` imports: no command loads those of others. */
export function derived<Input, Result, More = unknown>(
  load: () => Promise<AdminFunction<Input, Result, More>>,
  row: Row<Input, Result, More>,
): Leaf {
  return {
    about: row.about ?? '',
    async define(command) {
      const [adminFunction, reader] = await Promise.all([load(), import('./schema-reader.ts')])
      const members = reader.membersOf(adminFunction.input)
      withJson(command)
      const args = addArguments(reader, command, members, row)
      const options = addOptions(
        reader,
        command,
        members.filter(({ name }) => !args.includes(name)),
        row,
      )
      command.addHelpText('after', helpAfter(command, row)).action(async (...words: unknown[]) => {
        stopRequest()
        const flags = words[args.length] as Readonly<Record<string, unknown>>
        const values: [string, unknown][] = [
          ...args.map((name, at): [string, unknown] => [name, words[at]]),
          ...options.map(([name, attribute]): [string, unknown] => [name, flags[attribute]]),
        ]
        const known = values.filter(([, value]) => !isNothing(value))
        const given = Object.fromEntries(known.map(([name, value]) => [name, value === NULL ? null : value]))
        await run(adminFunction, row, given as Given<Input>, flags)
      })
    },
  }
}

/** The function with another answer, which says what the settings of this process say. */
export const withAnswer = <Input, Found, Result>(
  adminFunction: AdminFunction<Input, Found, unknown>,
  answer: (found: Found, deps: Deps) => Result,
): AdminFunction<Input, Result, unknown> => {
  const call = async (deps: Deps, input: Input) => answer(await adminFunction(deps, input), deps)
  return Object.assign(call, { input: adminFunction.input, act: adminFunction.act })
}

/** This value is read as null: commander takes a null for an option without a value. */
const NULL = Symbol('null')

const keepingNull =
  (read: Spelling['read'] = (text) => text) =>
  (text: string, before: unknown): unknown =>
    read(text, before as never) ?? NULL

/** Variadic arguments are an empty list where none was given. */
const isNothing = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0)

async function run<Input, Result, More>(
  adminFunction: AdminFunction<Input, Result, More>,
  row: Row<Input, Result, More>,
  given: Given<Input>,
  options: OutputOptions,
): Promise<void> {
  const whole = { ...given, ...(await textsOf(row, given)) }
  const members = Object.entries({ ...whole, ...(await row.input?.(whole)) })
  const { properties = {} } = adminFunction.input
  const input = Object.fromEntries(members.filter(([name]) => Object.hasOwn(properties, name))) as Input
  const limit = row.pages ? Number(given.limit) : Number.POSITIVE_INFINITY
  const asked = row.pages ? { ...input, limit: limit + 1 } : input
  const { ask, askToAdd } = await import('./environment.ts')
  let more = {} as More
  const call = async (deps: Deps, from: Input) => {
    more = (await row.deps?.(deps, given)) ?? more
    return adminFunction({ ...deps, ...more }, from)
  }
  const found = await withFile(row, asked, (whole) => (row.adds ? askToAdd : ask)(call, whole))
  const hasMore = Array.isArray(found) && found.length > limit
  const result = hasMore ? (found.slice(0, limit) as Result) : found
  const text = row.text === undefined ? factsText(result as object) : await row.text(result, given, more)
  print(options, result, hasMore ? `${text}\nthere are more; --limit shows them` : text)
  if (row.failed?.(result)) process.exitCode = EXIT.failed
}

type Files = Pick<Row<unknown, unknown, unknown>, 'args' | 'options' | 'reads' | 'file'>

/** The option that names the file of a member, for messages; undefined for an argument. */
function optionOf({ args = '', options = {} }: Files, member: string): string | undefined {
  const { flags = `--${member}` } = spellingOf(options[member])
  return args.includes(member) ? undefined : flags.split(' ')[0]
}

async function textsOf(row: Files, given: Readonly<Record<string, unknown>>) {
  const texts: Record<string, unknown> = {}
  if (row.reads === undefined) return texts
  const { readInput } = await import('./input.ts')
  for (const member of row.reads) {
    const read = (path: unknown) => readInput(String(path), optionOf(row, member))
    const paths = given[member]
    if (Array.isArray(paths)) texts[member] = await Promise.all(paths.map(read))
    else if (paths !== undefined) texts[member] = await read(paths)
  }
  return texts
}

async function withFile<Input, Result>(
  row: Files,
  input: Input,
  call: (input: Input) => Promise<Result>,
): Promise<Result> {
  const { file: member = '' } = row
  const path = (input as Readonly<Record<string, unknown>>)[member]
  if (path === undefined) return call(input)
  const { readYaml } = await import('./yaml.ts')
  const { value, refusedWithLine } = await readYaml(String(path), optionOf(row, member))
  return refusedWithLine(() => call({ ...input, [member]: value }), [member])
}

type SchemaReader = typeof import('./schema-reader.ts')

type Described = Pick<Row<unknown, unknown, unknown>, 'args' | 'options' | 'more' | 'notes' | 'examples' | 'pages'>

/** @returns the names of the arguments, in order */
function addArguments(
  { memberReader }: SchemaReader,
  command: Command,
  members: readonly Member[],
  { args = '', options = {} }: Described,
): string[] {
  const names: string[] = []
  for (const word of args.split(' ').filter(Boolean)) {
    const name = word.replaceAll(/[^\w-]/g, '')
    const member = members.find((one) => one.name === name)
    const { help, read } = spellingOf(options[name])
    const argument = new Argument(/^[[<]/.test(word) ? word : `<${word}>`, help ?? member?.description)
    const { parse, choices } = (member && memberReader(member.schema, 'none')) ?? {}
    if (choices !== undefined) argument.choices(choices)
    else argument.argParser(keepingNull(read ?? parse))
    command.addArgument(argument)
    names.push(name)
  }
  return names
}

/** @returns for each option the member, and the name under which commander has the value */
function addOptions(
  { memberReader }: SchemaReader,
  command: Command,
  members: readonly Member[],
  { options = {}, more = {}, pages }: Described,
): readonly (readonly [name: string, attribute: string])[] {
  const added: [string, string][] = []
  for (const { name, schema, description, isRequired } of members) {
    const said = options[name]
    if (said === null) continue
    const { flags, help, none = 'none', words, read, ...spelling } = spellingOf(said)
    const reader = memberReader(schema, none)
    if (reader === null && read === undefined) continue
    const { parse, choices = words, placeholder = name } = reader ?? {}
    const line = description.replace(/\bnull:/, `${none}:`)
    const others = (reader?.words ?? []).filter((word) => !line.includes(word))
    const long = name.replaceAll(/_|(?=[A-Z])/g, '-').toLowerCase()
    const option = new Option(
      flags ?? `--${long}${placeholder === '' ? '' : ` <${placeholder}>`}`,
      help ?? [line, ...others].join('; or '),
    )
    if (schema.type === 'array' && !option.variadic) option.description += '; give it again for more'
    if (choices !== undefined) option.choices(choices)
    else if (placeholder !== '') option.argParser(keepingNull(read ?? parse))
    const check = option.parseArg
    if (words !== undefined) option.argParser((text) => check?.(text, undefined) === words[0])
    const usual = spelling.default ?? (pages && name === 'limit' ? 50 : undefined)
    if (usual !== undefined) option.default(usual)
    command.addOption(option.makeOptionMandatory(isRequired && usual === undefined))
    added.push([name, option.attributeName()])
  }
  for (const [flags, help] of Object.entries(more)) {
    const option = new Option(flags, help.replace(/^!/, '')).makeOptionMandatory(help.startsWith('!'))
    command.addOption(option)
    added.push([option.attributeName(), option.attributeName()])
  }
  return added
}

const spellingOf = (said: string | Spelling | null | undefined): Spelling =>
  typeof said === 'string' ? { flags: said } : (said ?? {})

function helpAfter(command: Command, { notes, examples }: Described): string {
  const names: string[] = []
  for (let above: Command | null = command; above !== null; above = above.parent) names.unshift(above.name())
  const lines = examples.map((rest) =>
    `Example: ${rest.includes('rollcall ') ? rest : `${names.join(' ')} ${rest}`}`.trimEnd(),
  )
  return `\n${notes === undefined ? '' : `${notes.trim()}\n\n`}${lines.join('\n')}`
}
