/** Explains how a search is understood and answered, and what would make it faster. */

import type { Limits } from '@rollcall/core/limits'
import { isStatementTimeout } from '@rollcall/database/database-errors'
import { ItemRejection, isJsonObject, type JsonObject, type JsonValue, oneOf } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, markPersonal, Namespace, orNull, RecordTypeName, text } from '../members.ts'
import { explainItem } from './explain-item.ts'

/** Reads a search as a server does and explains it; no signature is checked. */
export const explainQuery = defineAct(
  {
    name: 'explain',
    approval: 'never',
    input: closed({
      namespace: Namespace,
      query: markPersonal(
        Type.Unsafe<JsonValue>({
          description: 'search_criteria, a query alone, or a whole request, of which the first item is taken.',
        }),
      ),
      record_type: Type.Optional(text("For a query alone: the record type (default: the kind's first).")),
      analyze: Type.Optional(flag('Also run it: the plan then says how long each part took.')),
      values: Type.Optional(flag('Show what is looked for; without it every value is a ?.')),
    }),
    result: closed({
      record_type: RecordTypeName,
      tree: markPersonal(text('How it is understood.')),
      sql: text('The statement.'),
      values: markPersonal(orNull(Type.Array(Type.Unknown(), { description: 'What goes with the statement as $1 and so on.' }))),
      plan: markPersonal(
        Type.Unsafe<{ readonly text: string }>({
          type: 'object',
          description: "PostgreSQL's plan.",
          required: ['text'],
          properties: { text: { type: 'string' } },
        }),
      ),
      cost: Type.Number({ description: "PostgreSQL's estimate." }),
      advice: Type.Array(
        closed({
          attribute: text('The attribute or compound.'),
          index: oneOf(['undeclared', 'missing', 'invalid'], {
            description: 'undeclared: no index is declared for it; invalid: its build was interrupted.',
          }),
          command: orNull(text('The command that helps; null: none does.')),
        }),
      ),
    }),
  },
  async (
    { db, limits }: HasDatabase & { readonly limits: Limits },
    { namespace, query, record_type, analyze = false, values = false },
  ) => {
    const item = searchItemOf(query as JsonValue, record_type)
    const registry = await requireRegistry(db, namespace)
    const explained = await explainItem(db, registry, item, { limits, analyze, values }).catch((error: unknown) => {
      throw toSearchRefusal(error, limits)
    })
    const advice = explained.advice.map(({ command, ...row }) => ({
      ...row,
      command: command === null ? null : `rollcall ${command.join(' ')}`,
    }))
    return { ...explained, advice }
  },
)

function toSearchRefusal(error: unknown, limits: Limits): unknown {
  if (error instanceof ItemRejection) return new AdminRefusal(`${error.code}: ${error.message}`)
  if (!isStatementTimeout(error)) return error
  return new AdminRefusal(`the search takes longer than a search may (${limits.search_timeout} seconds)`)
}

/**
 * Returns the search item in a value. The value is a request (it has the member `message`), a message (`search_request`; its
 * first item is returned), an item (`search_criteria`), search_criteria (`query_type`), or otherwise a query.
 */
function searchItemOf(value: JsonValue, recordType: string | undefined): JsonObject {
  if (isJsonObject(value)) {
    if (isJsonObject(value.message)) return searchItemOf(value.message, recordType)
    if (Array.isArray(value.search_request)) {
      const [first] = value.search_request
      if (isJsonObject(first)) return first
      throw new AdminRefusal('search_request has no item')
    }
    if (Object.hasOwn(value, 'search_criteria')) return value
    if (Object.hasOwn(value, 'query_type')) return { search_criteria: value }
  }
  const named = recordType === undefined ? {} : { reg_record_type: recordType }
  return { search_criteria: { ...named, query_type: guessQueryType(value), query: value } }
}

/** Guesses the query_type of a query by its shape. A text is taken for graphql. */
function guessQueryType(query: JsonValue): string {
  if (typeof query === 'string') return 'graphql'
  return Array.isArray(query) ? 'predicate' : 'expression'
}
