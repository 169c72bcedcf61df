/** `rollcall registry add` and `set`: add and change a registry. */
import { importRecords } from '@rollcall/admin/records/records'
import { addRegistry, changeRegistry, listRegistries } from '@rollcall/admin/registries/registries'
import { nearestNameHint } from '@rollcall/base/shared/message-words'
import { KINDS, kindNamed } from '@rollcall/protocol'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { callWithNonDemoDatabase, withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { PEOPLE_SEED, renamedPrimaryIdentifiers, syntheticRecords } from '../synthetic-people.ts'
import { collectOption, readNameValuePairs, wholeNumberReader } from '../values.ts'

export const addRegistryCommand = {
  defineCommand(command: Command): void {
    withJsonOption(command)
      .argument(
        '<kind>',
        `kind of the registry (${KIND_NAMES_TEXT}), or its namespace: the kind, a hyphen and more`,
        readKindAndNamespace,
      )
      .option('--namespace <namespace>', 'first segment of its paths (default: the kind; of a sandbox, the kind and -test)')
      .option('--sandbox', 'make a sandbox registry, and fill it with synthetic people')
      .option(
        '--people <records>',
        'synthetic records of a sandbox registry (default: 1000)',
        wholeNumberReader(0, MOST_SANDBOX_PEOPLE),
      )
      .option('--sender-id <sender_id>', 'its sender_id in messages (default: <namespace>.rollcall)')
      .option('--alias <receiver_id...>', 'more values of receiver_id that it accepts')
      .option('--time-zone <zone>', 'time zone in which its days begin and ages are counted (default: UTC)')
      .option(...MAJORITY_AGE_OPTION)
      .addOption(makePrimaryIdentifierOption())
      .option(...SOURCE_OPTION)
      .option(...ALLOW_WRITER_OPTION)
      .addHelpText(
        'after',
        `
${PRIMARY_OPTION_NOTES}
${SOURCE_NOTES}
A sandbox registry is for systems that are being tried out: only sandbox participants may be granted something there,
and rollcall simulate makes events happen to its people. Whether a registry is live or a sandbox never changes.

Example: rollcall registry add civil --namespace population --primary NID
Example: rollcall registry add civil --namespace crvs --sender-id crvs.example.org --time-zone Africa/Kigali
Example: rollcall registry add civil-test --sandbox`,
      )
      .action(runAdd)
  },
}

export const setRegistryCommand = {
  defineCommand(command: Command): void {
    withJsonOption(command)
      .argument('<namespace>', 'namespace of the registry')
      .option('--alias <receiver_id...>', 'more values of receiver_id that it accepts, in place of those before; none ends it')
      .option('--time-zone <zone>', 'time zone in which its days begin, such as Africa/Kigali')
      .option(...MAJORITY_AGE_OPTION)
      .option(
        '--web-origin <origin...>',
        'origins of web pages that may ask it from a browser, in place of those before; none ends it',
      )
      .option('--reg-type-alias <value...>', 'more values of reg_type that mean it, in place of those before; none ends it')
      .addOption(
        new Option(
          '--qualified-kids <on|off>',
          'whether its key set names each key for signatures a second time, as sender_id|kid|ed25519',
        ).choices(['on', 'off']),
      )
      .addOption(makePrimaryIdentifierOption())
      .option(...SOURCE_OPTION)
      .option(...ALLOW_WRITER_OPTION)
      .addHelpText(
        'after',
        `
${PRIMARY_OPTION_NOTES}
${SOURCE_NOTES}
Browsers let a page read answers only if its origin is listed here, such as https://app.example or http://localhost:*.

Example: rollcall registry set civil --web-origin https://app.example
Example: rollcall registry set civil --alias https://crvs.example/civil --reg-type-alias Individual
Example: rollcall registry set civil --time-zone Africa/Kigali --majority 21`,
      )
      .action(runSet)
  },
}

const KIND_NAMES = KINDS.map(({ name }) => name)
const KIND_NAMES_TEXT = KIND_NAMES.join(', ')

/** The most synthetic people with which a sandbox registry is filled. */
const MOST_SANDBOX_PEOPLE = 100_000
const DEFAULT_SANDBOX_PEOPLE = 1_000

interface KindAndNamespace {
  readonly kind: string
  readonly namespace: string | undefined
}

/** Reads a kind, such as `civil`, or a namespace that begins with its kind, such as `civil-test`. */
function readKindAndNamespace(text: string): KindAndNamespace {
  const [name = ''] = text.split('-')
  if (!KINDS.some((kind) => kind.name === name)) {
    throw new InvalidArgumentError(
      `It must be a kind: ${KIND_NAMES_TEXT}; or a namespace that begins with one, such as civil-test${nearestNameHint(name, KIND_NAMES)}.`,
    )
  }
  return { kind: name, namespace: name === text ? undefined : text }
}

const MAJORITY_AGE_OPTION = [
  '--majority <years>',
  'age at which people come of age, for grants that never find minors (default: 18)',
  wholeNumberReader(1, 99),
] as const

const PRIMARY_OPTION_NOTES = `Records are known by their primary identifier: each has exactly one, and no other record has the same. --primary names
another type than the kind does; it can be set as long as the registry has no records. For a kind with several record
types, --primary <record type>=<type> names that of one of them. A type that the kind does not have is added with
rollcall identifier-type add.
`

const SOURCE_OPTION = ['--source <file>', 'file that says where its records are, in a database of their own'] as const
const ALLOW_WRITER_OPTION = ['--allow-writer', 'accept an account of the source that may write: for a trial alone'] as const

const SOURCE_NOTES = `With --source its records stay in a database of their own, which is only read (docs/sources.md). The source is checked as
rollcall source check does it. A registry that was added without a source keeps its records here.
`

/** Runs `call` with the content of the source file, or with undefined for no file. A refusal of the content names the line. */
async function callWithSourceFile<Result>(
  path: string | undefined,
  call: (source: object | undefined) => Promise<Result>,
): Promise<Result> {
  if (path === undefined) return call(undefined)
  const { readYaml } = await import('../yaml.ts')
  const { value, refusedWithLine } = await readYaml(path, '--source')
  return refusedWithLine(() => call(value as object), ['source'])
}

const makePrimaryIdentifierOption = (): Option =>
  new Option('--primary <type>', 'identifier type by which its records are known').argParser(collectOption)

/** Reads primary identifier types: `NID` is for the first record type of the kind, `Group=HOUSEHOLD_NO` for another one. */
function readPrimaryIdentifierTypes(kind: string, given: readonly string[] | undefined) {
  if (given === undefined) return undefined
  return readNameValuePairs(given, kindNamed(kind)?.record_types[0].name ?? '')
}

interface AddOptions extends OutputOptions {
  readonly namespace?: string
  readonly senderId?: string
  readonly alias?: readonly string[]
  readonly timeZone?: string
  readonly majority?: number
  readonly primary?: readonly string[]
  readonly sandbox?: true
  readonly source?: string
  readonly allowWriter?: true
  readonly people?: number
}

async function runAdd({ kind, namespace: named }: KindAndNamespace, options: AddOptions): Promise<void> {
  const { signal } = listenForStop()
  const { senderId: sender_id, alias: aliases, timeZone: time_zone, sandbox, people } = options
  if (named !== undefined && options.namespace !== undefined) {
    throw new CommandError(`--namespace is given, and ${named} is a namespace too; give the kind ${kind} alone`)
  }
  if (people !== undefined && !sandbox) {
    throw new CommandError('--people needs --sandbox: a live registry has the records that are imported')
  }
  const own = { namespace: named ?? options.namespace, sender_id, aliases, time_zone }
  const primary_identifiers = readPrimaryIdentifierTypes(kind, options.primary)
  const environment = sandbox ? ('sandbox' as const) : undefined
  const registry = { kind, ...own, majority_age: options.majority, primary_identifiers, environment }
  const added = await callWithSourceFile(options.source, (source) =>
    callWithNonDemoDatabase(addRegistry, { ...registry, source, allow_writer: options.allowWriter }),
  )
  const known = options.primary === undefined ? '' : `, with ${primaryTypesText(added)}`
  const place = recordsLocationText(added)
  const text = `added ${added.namespace}, a ${added.kind} registry that calls itself ${added.sender_id}${known}${place}`
  if (!sandbox) return printResult(options, added, text)
  const records = await fillSandbox(added, people ?? DEFAULT_SANDBOX_PEOPLE, signal)
  printResult(options, { ...added, records }, `${text}; a sandbox with ${records} synthetic records`)
}

function recordsLocationText({ namespace, source }: RegistryRow): string {
  if (source === null) return ''
  return 'way' in source && source.way === 'mirror'
    ? `; it answers when its records are copied, and rollcall source status ${namespace} --wait waits for them`
    : '; its records stay in a database of their own'
}

/** Fills the registry with synthetic people, as `rollcall import` does. */
async function fillSandbox(
  { kind, namespace, primary_identifiers }: RegistryRow,
  people: number,
  signal: AbortSignal,
): Promise<number> {
  if (people === 0) return 0
  const source = syntheticRecords(kind, people, renamedPrimaryIdentifiers(kind, primary_identifiers))
  const { written } = await withDatabase(({ config: { limits }, ...deps }) =>
    importRecords({ ...deps, limits, source, rejectsPath: null, signal }, { namespace, format: 'ndjson' }),
  )
  if (written === people) return written
  throw new CommandError(
    `the registry ${namespace} was added with ${written} of ${people} records; fill it: rollcall generate ${kind} --seed ${PEOPLE_SEED} --count ${people} | rollcall import ${namespace} - --format ndjson`,
  )
}

const primaryTypesText = ({ primary_identifiers }: Pick<RegistryRow, 'primary_identifiers'>): string =>
  Object.entries(primary_identifiers)
    .map(([type, primary]) => `every ${type} known by its ${primary}`)
    .join(', ')

type RegistryRow = Awaited<ReturnType<typeof addRegistry>>

interface SetOptions extends OutputOptions {
  readonly alias?: readonly string[]
  readonly webOrigin?: readonly string[]
  readonly regTypeAlias?: readonly string[]
  readonly qualifiedKids?: 'on' | 'off'
  readonly timeZone?: string
  readonly majority?: number
  readonly primary?: readonly string[]
  readonly source?: string
  readonly allowWriter?: true
}

async function runSet(namespace: string, options: SetOptions): Promise<void> {
  listenForStop()
  const { timeZone: time_zone, majority: majority_age } = options
  const set = (source: object | undefined) =>
    withDatabase(async (deps) => {
      const kind = (await listRegistries(deps, {})).find((row) => row.namespace === namespace)?.kind ?? ''
      const primary_identifiers = readPrimaryIdentifierTypes(kind, options.primary)
      const changes = {
        aliases: readNoneAsEmptyList(options.alias),
        time_zone,
        majority_age,
        web_origins: readNoneAsEmptyList(options.webOrigin),
        reg_type_aliases: readNoneAsEmptyList(options.regTypeAlias),
        qualified_kids: options.qualifiedKids && options.qualifiedKids === 'on',
        primary_identifiers,
        source,
        allow_writer: options.allowWriter,
      }
      return changeRegistry(deps, { namespace, ...changes })
    })
  const changed = await callWithSourceFile(options.source, set)
  const text = `the time zone of ${namespace} is ${changed.time_zone}, people come of age at ${changed.majority_age}, and it has ${primaryTypesText(changed)}; web pages: ${changed.web_origins.join(', ') || 'none'}; further values of receiver_id: ${changed.aliases.join(', ') || 'none'}; of reg_type: ${changed.reg_type_aliases.join(', ') || 'none'}`
  printResult(options, changed, text)
}

/** Returns an empty list for the word `none`, and undefined when the option is absent. */
const readNoneAsEmptyList = (given: readonly string[] | undefined): readonly string[] | undefined =>
  given?.length === 1 && given[0] === 'none' ? [] : given
