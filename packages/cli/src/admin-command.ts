/** Makes commands from admin functions: arguments and options are the input, and the result is printed. */
import { Argument, type Command, Option } from 'commander'
import type { LeafCommand } from './command-tree.ts'
import type { CommandDeps } from './environment.ts'
import { EXIT_CODES } from './failure.ts'
import { namesAndValuesText, type OutputOptions, printResult, withJsonOption } from './output.ts'
import type { SchemaMember } from './schema-reader.ts'
import { listenForStop } from './stop.ts'

/** An admin function, as a command calls it. */
export interface AdminFunction<Input, Result, More> {
  (deps: CommandDeps & More, input: Input): Promise<Result>
  readonly input: { readonly properties?: object }
  /** The description of this function as an act (an `ActDescription` of packages/admin); null when the function is no act. */
  readonly act: object | null
}

/** How a member of the input is written on the command line, where its schema does not say enough. */
interface OptionSpelling {
  /** The flags, such as `--participant <sender_id>` (default: `--` and the name of the member). */
  readonly flags?: string
  /** The help text (default: the description in the schema). */
  readonly help?: string
  readonly default?: number | string
  /** The word that means null (default: `none`). */
  readonly none?: string
  /** The words that mean true and false, in place of a flag. */
  readonly words?: readonly [string, string]
  /** Reads one value (default: the type of the member says how). `before`: the value so far of an option given several times. */
  readonly read?: (text: string, before: never) => unknown
}

/**
 * The values that a command line gives. A value for a member of the input has the member's name; any other value has the name of
 * its argument, or Commander's name of its option, such as `dryRun` for `--dry-run`.
 */
type CommandLineValues<Input> = Input & Readonly<Record<string, unknown>>

interface AdminCommandDefinition<Input, Result, More> {
  /** One line for the list of commands; absent for a command in a module of its own. */
  readonly about?: string
  /** Arguments, as in `namespace [record_type]`. `input` below reads an argument that is no member of the function's input. */
  readonly args?: string
  /** How members are written on the command line: flags, or an OptionSpelling; null: no option. Default: `--` and the name. */
  readonly options?: Readonly<Record<string, string | OptionSpelling | null>>
  /** Options that are no members: flags, and the help text. With a `!` before the text the option is required. */
  readonly more?: Readonly<Record<string, string>>
  /** A text of the help below the list of options. */
  readonly notes?: string
  /** Examples for the help: the arguments, or whole lines that begin with the name of the command. */
  readonly examples: readonly string[]
  /** Members whose text is read from a file that the command line names. */
  readonly reads?: readonly string[]
  /** The member whose value is in a YAML file. Its option names the file, and a refusal names the line. */
  readonly file?: string
  /** The command adds an operator's own data, which the database of a demo refuses. */
  readonly adds?: true
  /** The command prints at most `limit` rows (50 by default). The printed text says when there are more. */
  readonly pages?: true
  /** Makes dependencies that the admin function needs beside `CommandDeps`. */
  readonly deps?: (deps: CommandDeps, given: CommandLineValues<Input>) => More | Promise<More>
  /** Computes members of the input; the others stay as given. */
  readonly input?: (given: CommandLineValues<Input>) => Partial<Input> | Promise<Partial<Input>>
  /** True when the command ends with exit code 1 after this result. */
  readonly failed?: (result: Result) => boolean
  /** Returns the result as text to print (default: a line for each member of the result). `more`: what `deps` made. */
  readonly text?: (result: Result, given: CommandLineValues<Input>, more: More) => string | Promise<string>
}

/** Makes a command that calls an admin function. `load` imports the function, when its command is used. */
export function adminCommand<Input, Result, More = unknown>(
  load: () => Promise<AdminFunction<Input, Result, More>>,
  row: AdminCommandDefinition<Input, Result, More>,
): LeafCommand {
  return {
    about: row.about ?? '',
    async defineCommand(command) {
      const [adminFunction, reader] = await Promise.all([load(), import('./schema-reader.ts')])
      const members = reader.schemaMembers(adminFunction.input)
      withJsonOption(command)
      const args = addArguments(reader, command, members, row)
      const options = addOptions(
        reader,
        command,
        members.filter(({ name }) => !args.includes(name)),
        row,
      )
      command.addHelpText('after', notesAndExamplesText(command, row)).action(async (...words: unknown[]) => {
        listenForStop()
        const flags = words[args.length] as Readonly<Record<string, unknown>>
        const values: [string, unknown][] = [
          ...args.map((name, at): [string, unknown] => [name, words[at]]),
          ...options.map(([name, attribute]): [string, unknown] => [name, flags[attribute]]),
        ]
        const known = values.filter(([, value]) => !isNotGiven(value))
        const given = Object.fromEntries(known.map(([name, value]) => [name, value === NULL_STAND_IN ? null : value]))
        await runAdminFunction(adminFunction, row, given as CommandLineValues<Input>, flags)
      })
    },
  }
}

/** Wraps an admin function: the command gets its result as `answer` converts it. `deps` has the settings of this process. */
export const withConvertedResult = <Input, Found, Result>(
  adminFunction: AdminFunction<Input, Found, unknown>,
  answer: (found: Found, deps: CommandDeps) => Result,
): AdminFunction<Input, Result, unknown> => {
  const call = async (deps: CommandDeps, input: Input) => answer(await adminFunction(deps, input), deps)
  return Object.assign(call, { input: adminFunction.input, act: adminFunction.act })
}

/** Stands for a null value. If the parser of an option returned null, Commander would store an empty text. */
const NULL_STAND_IN = Symbol('null')

/** Makes a parser for Commander. It returns NULL_STAND_IN where `read` returns null. */
const makeNullSafeParser =
  (read: OptionSpelling['read'] = (text) => text) =>
  (text: string, before: unknown): unknown =>
    read(text, before as never) ?? NULL_STAND_IN

/** True when no value was given. Commander gives an empty list for variadic arguments without values. */
const isNotGiven = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0)

async function runAdminFunction<Input, Result, More>(
  adminFunction: AdminFunction<Input, Result, More>,
  row: AdminCommandDefinition<Input, Result, More>,
  given: CommandLineValues<Input>,
  options: OutputOptions,
): Promise<void> {
  const whole = { ...given, ...(await readInputMemberFiles(row, given)) }
  const members = Object.entries({ ...whole, ...(await row.input?.(whole)) })
  const { properties = {} } = adminFunction.input
  const input = Object.fromEntries(members.filter(([name]) => Object.hasOwn(properties, name))) as Input
  const limit = row.pages ? Number(given.limit) : Number.POSITIVE_INFINITY
  const asked = row.pages ? { ...input, limit: limit + 1 } : input
  const { callWithDatabase, callWithNonDemoDatabase } = await import('./environment.ts')
  let more = {} as More
  const call = async (deps: CommandDeps, from: Input) => {
    more = (await row.deps?.(deps, given)) ?? more
    return adminFunction({ ...deps, ...more }, from)
  }
  const found = await callWithYamlFile(row, asked, (whole) =>
    (row.adds ? callWithNonDemoDatabase : callWithDatabase)(call, whole),
  )
  const hasMore = Array.isArray(found) && found.length > limit
  const result = hasMore ? (found.slice(0, limit) as Result) : found
  const text = row.text === undefined ? namesAndValuesText(result as object) : await row.text(result, given, more)
  printResult(options, result, hasMore ? `${text}\nthere are more; --limit shows them` : text)
  if (row.failed?.(result)) process.exitCode = EXIT_CODES.failed
}

/** The part of a command's definition that says which members of the input are read from files. */
type InputMembersFromFiles = Pick<AdminCommandDefinition<unknown, unknown, unknown>, 'args' | 'options' | 'reads' | 'file'>

/** The option that names the file of a member, for messages; undefined when the member is an argument. */
function findFileOption({ args = '', options = {} }: InputMembersFromFiles, member: string): string | undefined {
  const { flags = `--${member}` } = asOptionSpelling(options[member])
  return args.includes(member) ? undefined : flags.split(' ')[0]
}

async function readInputMemberFiles(row: InputMembersFromFiles, given: Readonly<Record<string, unknown>>) {
  const texts: Record<string, unknown> = {}
  if (row.reads === undefined) return texts
  const { readFileOrStdin } = await import('./input.ts')
  for (const member of row.reads) {
    const read = (path: unknown) => readFileOrStdin(String(path), findFileOption(row, member))
    const paths = given[member]
    if (Array.isArray(paths)) texts[member] = await Promise.all(paths.map(read))
    else if (paths !== undefined) texts[member] = await read(paths)
  }
  return texts
}

async function callWithYamlFile<Input, Result>(
  row: InputMembersFromFiles,
  input: Input,
  call: (input: Input) => Promise<Result>,
): Promise<Result> {
  const { file: member = '' } = row
  const path = (input as Readonly<Record<string, unknown>>)[member]
  if (path === undefined) return call(input)
  const { readYaml } = await import('./yaml.ts')
  const { value, refusedWithLine } = await readYaml(String(path), findFileOption(row, member))
  return refusedWithLine(() => call({ ...input, [member]: value }), [member])
}

type SchemaReaderModule = typeof import('./schema-reader.ts')

type CommandTexts = Pick<
  AdminCommandDefinition<unknown, unknown, unknown>,
  'args' | 'options' | 'more' | 'notes' | 'examples' | 'pages'
>

/** Adds the arguments of a command. @returns their names, in order */
function addArguments(
  { findMemberReader }: SchemaReaderModule,
  command: Command,
  members: readonly SchemaMember[],
  { args = '', options = {} }: CommandTexts,
): string[] {
  const names: string[] = []
  for (const word of args.split(' ').filter(Boolean)) {
    const name = word.replaceAll(/[^\w-]/g, '')
    const member = members.find((one) => one.name === name)
    const { help, read } = asOptionSpelling(options[name])
    const argument = new Argument(/^[[<]/.test(word) ? word : `<${word}>`, help ?? member?.description)
    const { parse, choices } = (member && findMemberReader(member.schema, 'none')) ?? {}
    if (choices !== undefined) argument.choices(choices)
    else argument.argParser(makeNullSafeParser(read ?? parse))
    command.addArgument(argument)
    names.push(name)
  }
  return names
}

/**
 * Adds the options of a command.
 * @returns for each added option, its name in `CommandLineValues` and its name in Commander
 */
function addOptions(
  { findMemberReader }: SchemaReaderModule,
  command: Command,
  members: readonly SchemaMember[],
  { options = {}, more = {}, pages }: CommandTexts,
): readonly (readonly [name: string, attribute: string])[] {
  const added: [string, string][] = []
  for (const { name, schema, description, isRequired } of members) {
    const said = options[name]
    if (said === null) continue
    const { flags, help, none = 'none', words, read, ...spelling } = asOptionSpelling(said)
    const reader = findMemberReader(schema, none)
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
    else if (placeholder !== '') option.argParser(makeNullSafeParser(read ?? parse))
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

const asOptionSpelling = (said: string | OptionSpelling | null | undefined): OptionSpelling =>
  typeof said === 'string' ? { flags: said } : (said ?? {})

function notesAndExamplesText(command: Command, { notes, examples }: CommandTexts): string {
  const names: string[] = []
  for (let above: Command | null = command; above !== null; above = above.parent) names.unshift(above.name())
  const lines = examples.map((rest) => `Example: ${rest.includes('rollcall ') ? rest : `${names.join(' ')} ${rest}`}`.trimEnd())
  return `\n${notes === undefined ? '' : `${notes.trim()}\n\n`}${lines.join('\n')}`
}
