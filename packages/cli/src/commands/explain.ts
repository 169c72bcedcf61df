/** `rollcall explain`: shows how a search is understood and answered, and what would speed it up. */
import type { explainQuery } from '@rollcall/admin/registries/explain'
import { adminCommand } from '../admin-command.ts'
import { parseJsonText, readFileOrStdin } from '../input.ts'

export const COMMAND_TREE = adminCommand(async () => (await import('@rollcall/admin/registries/explain')).explainQuery, {
  about: 'show how a search is understood, its SQL and plan, and which index is missing',
  args: 'namespace file',
  options: {
    file: { help: 'JSON: search_criteria, a query alone, or a whole request; - for standard input' },
    query: null,
    analyze: { help: 'also run it: the plan then has the time of each part' },
    values: { help: 'show the values that the search compares with; without it every value is a ?' },
    record_type: { help: "for a query alone: the record type, unless it is the kind's first" },
  },
  notes: 'The first item of a whole request is used. No signature is checked. An encrypted message cannot be explained.',
  examples: [`echo '{"sex": "F", "birth_date": {"$lt": "1960"}}' | rollcall explain civil -`],
  input: async ({ file }) => {
    const path = String(file)
    const query = parseJsonText(path === '-' ? 'standard input' : path, await readFileOrStdin(path))
    return { query }
  },
  text: explainedText,
})

type QueryExplanation = Awaited<ReturnType<typeof explainQuery>>

function explainedText({ record_type, tree, sql, values, plan, cost, advice }: QueryExplanation): string {
  const parts: [title: string, body: string][] = [
    [`Asked of ${record_type}`, tree],
    ['SQL', sql],
    ...(values === null ? [] : [['Values', sqlValuesText(values)] as [string, string]]),
    ['Plan', plan.text],
    ['Cost', String(cost)],
    ['Indexes', advice.map(indexAdviceText).join('\n') || 'none is missing'],
  ]
  return parts.map(([title, body]) => `${title}\n${indentLines(body)}`).join('\n\n')
}

const indentLines = (lines: string): string => lines.replace(/^/gm, '  ')

const sqlValuesText = (values: readonly unknown[]): string =>
  values.map((value, at) => `$${at + 1}  ${JSON.stringify(value)}`).join('\n')

const INDEX_PROBLEM_TEXTS = {
  undeclared: 'has no index',
  missing: 'has an index that is declared and not built',
  invalid: 'has an index whose build was interrupted',
} as const

function indexAdviceText({ attribute, index, command }: QueryExplanation['advice'][number]): string {
  return `${attribute} ${INDEX_PROBLEM_TEXTS[index]}${command === null ? '' : `: ${command}`}`
}
