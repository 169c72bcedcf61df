/** `rollcall explain`: how a search is understood and answered, and what would make it quicker. */
import { ItemRejection, isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import {
  type ExplainedItem,
  explainItem,
  type IndexAdvice,
  isStatementTimeout,
  registryAt,
} from '@rollcall/server'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { parsedJson, readInput } from '../input.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addCommand(program: Command): void {
  withJson(program.command('explain'))
    .description('show how a search is understood, its SQL and plan, and which index is missing')
    .argument('<namespace>', 'namespace of the registry')
    .argument('<file>', 'JSON: search_criteria, a query alone, or a whole request; - for standard input')
    .option('--analyze', 'also run it: the plan then says how long each part took')
    .option('--values', 'show what is looked for; without it every value is a ?')
    .option('--record-type <type>', "for a query alone: the record type, unless it is the kind's first")
    .addHelpText(
      'after',
      `
Of a whole request the first item is taken; no signature is checked, and an encrypted message cannot be explained.

Example: echo '{"sex": "F", "birth_date": {"$lt": "1960"}}' | rollcall explain civil -`,
    )
    .action(runExplain)
}

interface ExplainOptions extends OutputOptions {
  readonly analyze?: true
  readonly values?: true
  readonly recordType?: string
}

async function runExplain(namespace: string, file: string, options: ExplainOptions): Promise<void> {
  stopRequest()
  const item = itemOf(await readJson(file), options.recordType)
  const { analyze = false, values = false } = options
  const explained = await withDatabase(async ({ db, config: { limits } }) => {
    const registry = await registryAt(db, namespace)
    return explainItem(db, registry, item, { limits, analyze, values }).catch((error: unknown) => {
      if (error instanceof ItemRejection) throw new CommandError(`${error.code}: ${error.message}`)
      if (isStatementTimeout(error)) {
        throw new CommandError(`the search takes longer than a search may (${limits.search_timeout} seconds)`)
      }
      throw error
    })
  })
  const advice = explained.advice.map((row) => ({ ...row, command: commandText(row) }))
  print(options, { ...explained, advice }, explainedText(explained))
}

const readJson = async (file: string): Promise<JsonValue> =>
  parsedJson(file === '-' ? 'standard input' : file, await readInput(file))

/** A request, its message, an item and search_criteria are known by a member; what has none of them is a query. */
function itemOf(value: JsonValue, recordType: string | undefined): JsonObject {
  if (isJsonObject(value)) {
    if (isJsonObject(value.message)) return itemOf(value.message, recordType)
    if (Array.isArray(value.search_request)) {
      const [first] = value.search_request
      if (isJsonObject(first)) return first
      throw new CommandError('search_request has no item')
    }
    if (Object.hasOwn(value, 'search_criteria')) return value
    if (Object.hasOwn(value, 'query_type')) return { search_criteria: value }
  }
  const named = recordType === undefined ? {} : { reg_record_type: recordType }
  return { search_criteria: { ...named, query_type: queryType(value), query: value } }
}

/** Its shape decides anyway; only a text does not say what it is. */
function queryType(query: JsonValue): string {
  if (typeof query === 'string') return 'graphql'
  return Array.isArray(query) ? 'predicate' : 'expression'
}

function commandText({ command }: IndexAdvice): string | null {
  return command === null ? null : `rollcall ${command.join(' ')}`
}

function explainedText({ record_type, tree, sql, values, plan, cost, advice }: ExplainedItem): string {
  const parts: [title: string, body: string][] = [
    [`Asked of ${record_type}`, tree],
    ['SQL', sql],
    ...(values === null ? [] : [['Values', valuesText(values)] as [string, string]]),
    ['Plan', plan.text],
    ['Cost', String(cost)],
    ['Indexes', advice.map(adviceText).join('\n') || 'none is missing'],
  ]
  return parts.map(([title, body]) => `${title}\n${indented(body)}`).join('\n\n')
}

const indented = (lines: string): string => lines.replace(/^/gm, '  ')

const valuesText = (values: readonly unknown[]): string =>
  values.map((value, at) => `$${at + 1}  ${JSON.stringify(value)}`).join('\n')

const PROBLEMS = {
  undeclared: 'has no index',
  missing: 'has an index that is declared and not built',
  invalid: 'has an index whose build was interrupted',
} as const

function adviceText(row: IndexAdvice): string {
  const command = commandText(row)
  return `${row.attribute} ${PROBLEMS[row.index]}${command === null ? '' : `: ${command}`}`
}
