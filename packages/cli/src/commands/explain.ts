/** `rollcall explain`: how a search is understood and answered, and what would make it quicker. */
import { explainQuery } from '@rollcall/admin/registries/explain'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { parsedJson, readInput } from '../input.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addCommand(program: Command): void {
  withJson(program.command('explain'))
    .description('show how a search is understood, its SQL and plan, and which index is missing')
    .argument('<namespace>', 'namespace of the registry')
    .argument('<file>', 'JSON: search_criteria, a query alone, or a whole request; - for standard input')
    .option('--analyze', 'also run it: the plan then has the time of each part')
    .option('--values', 'show the values that the search compares with; without it every value is a ?')
    .option('--record-type <type>', "for a query alone: the record type, unless it is the kind's first")
    .addHelpText(
      'after',
      `
The first item of a whole request is used. No signature is checked. An encrypted message cannot be explained.

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
  const { recordType: record_type, analyze, values } = options
  const query = parsedJson(file === '-' ? 'standard input' : file, await readInput(file))
  const explained = await withDatabase(({ config: { limits }, ...needs }) =>
    explainQuery({ ...needs, limits }, { namespace, query, record_type, analyze, values }),
  )
  print(options, explained, explainedText(explained))
}

type Explained = Awaited<ReturnType<typeof explainQuery>>

function explainedText({ record_type, tree, sql, values, plan, cost, advice }: Explained): string {
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

function adviceText({ attribute, index, command }: Explained['advice'][number]): string {
  return `${attribute} ${PROBLEMS[index]}${command === null ? '' : `: ${command}`}`
}
