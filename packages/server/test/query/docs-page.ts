/** docs/query.md and docs/query-reference.md as data: records, tables of examples and commands. */
import { readFileSync } from 'node:fs'

const docs = new URL('../../../../docs/', import.meta.url)
const guide = readFileSync(new URL('query.md', docs), 'utf8')
const page = readFileSync(new URL('query-reference.md', docs), 'utf8')
/** Rows that the page leaves to the tests, in the same form. */
const furtherRows = readFileSync(new URL('further-rows.txt', import.meta.url), 'utf8')

/** A row of a table: a query, and its promised result. */
export interface Row {
  readonly section: string
  readonly namespace: string
  /** Members of search_criteria. */
  readonly criteria: object
  /** The first cell of the row, as it stands. */
  readonly shown: string
  readonly expects: 'Finds' | 'Answers' | 'Refused'
  /** The second cell, as it stands. */
  readonly expected: string
}

/** The records of the reference, by registry and by the name that the tables use. */
export const records: ReadonlyMap<string, ReadonlyMap<string, object>> = new Map(
  [...page.matchAll(/```json ([a-z]+)\n(.*?)\n```/gs)].map(([, namespace = '', text = '']) => [
    namespace,
    new Map(Object.entries(JSON.parse(text) as Record<string, object>)),
  ]),
)

/** The shell blocks of the guide, one after the other. */
export const shellBlocks: readonly string[] = [...guide.matchAll(/```sh\n(.*?)\n```/gs)].map(([, block = '']) => block)

const typed = (type: string, expression: unknown) => ({ type: `ns:org:QueryType:${type}`, value: { expression } })

/** Readings of the first cell, by the first word of the table's head: the top of the page explains them. */
const FORMS: Readonly<Record<string, (cell: string) => object>> = {
  Identifier: (cell) => ({ query_type: 'idtype-value', query: JSON.parse(cell) }),
  List: (cell) => ({ query_type: 'predicate', query: JSON.parse(cell) }),
  Expression: (cell) => ({ query_type: 'expression', query: typed('expression', { query: JSON.parse(cell) }) }),
  GraphQL: (cell) => ({ query_type: 'graphql', query: typed('graphql', cell) }),
  Query: (cell) => ({ query_type: 'expression', query: JSON.parse(cell) }),
  Criteria: (cell) => JSON.parse(cell),
}

const cells = (line: string): string[] =>
  line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim())

/** The text of a cell that is one code span. */
const plain = (cell: string): string => (/^`[^`]*`$/.test(cell) ? cell.slice(1, -1) : cell)

/** Every row of every table whose head names a form and a registry, such as `List, civil`. */
export function readRows(): Row[] {
  const rows: Row[] = []
  let section = ''
  let head: { form: (cell: string) => object; namespace: string; expects: Row['expects'] } | null = null
  for (const line of `${page}\n${furtherRows}`.split('\n')) {
    if (line.startsWith('#')) section = line.replace(/^#+ /, '')
    if (!line.startsWith('|')) head = null
    else if (head === null) head = readHead(line)
    else if (!line.startsWith('|---')) {
      const [shown = '', expected = ''] = cells(line)
      const { form, namespace, expects } = head
      rows.push({ section, namespace, criteria: form(plain(shown)), shown: plain(shown), expects, expected })
    }
  }
  return rows
}

function readHead(line: string) {
  const [first = '', second = ''] = cells(line)
  const [form = '', namespace = ''] = first.split(', ')
  const read = FORMS[form]
  if (read === undefined || !records.has(namespace)) return null
  if (second !== 'Finds' && second !== 'Answers' && second !== 'Refused') throw new Error(`no ${second}`)
  return { form: read, namespace, expects: second } as const
}
