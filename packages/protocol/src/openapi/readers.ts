/**
 * Changes the OpenAPI document for the reference page: removes references to our sources, and uses the names of one
 * server in examples.
 */
import type { JsonObject } from './components.ts'

/** Matches a reference to a source that readers of the page do not have, such as `spec "Header"` or N12. */
const SOURCE_REFERENCE_PATTERN = /spec "[^"]*"|public standard(?: [\d.]+)?|\b[NDG]\d+\b:?|\b\d+(?:\.\d+)+\b/g
/** Matches what may be left in brackets when a reference to a source was removed, and says nothing alone. */
const WORDS_LEFT_IN_BRACKETS_PATTERN = /\b(?:responses|required members|\d+)\b|[,;\s]/g

/** Removes from a text what is in round brackets and refers to our sources. References to an RFC stay. */
export function omitSourceReferences(text: string): string {
  return text.replaceAll(/ ?\(([^()]*)\)/g, (whole, inside: string) => {
    if (inside.startsWith('RFC')) return whole.replace(/, public standard [\d.]+/, '')
    const rest = inside.replaceAll(SOURCE_REFERENCE_PATTERN, '').trim()
    if (rest === inside.trim()) return whole
    return rest.replaceAll(WORDS_LEFT_IN_BRACKETS_PATTERN, '') === '' ? '' : ` (${rest})`
  })
}

/** The members of the document whose texts refer to our sources. */
const MEMBERS_WITH_SOURCE_REFERENCES = new Set(['description', 'summary'])

/** The document with `omitSourceReferences` applied to each description and summary. */
export function omitAllSourceReferences<Document extends object>(document: Document): Document {
  return mapNestedValues(document as JsonObject, (name, value) =>
    MEMBERS_WITH_SOURCE_REFERENCES.has(name) && typeof value === 'string' ? omitSourceReferences(value) : value,
  ) as Document
}

/** The names in example requests: sender, receiver and person. */
export interface ExampleOf {
  readonly sender_id: string
  readonly receiver_id: string
  /** The primary identifier of the person: of an existing record, or an invented one. */
  readonly identifier_value: string
}

/**
 * An example request with the names of a server. `sender_uri`, the address for callbacks, is removed: after an asynchronous
 * request, the requester fetches the answer with txn/status.
 * @param invented the names in the example that are replaced
 * @param given the names of the server, which replace them
 */
export function exampleForServer(example: JsonObject, invented: ExampleOf, given: ExampleOf): JsonObject {
  const names: readonly (keyof ExampleOf)[] = ['sender_id', 'receiver_id', 'identifier_value']
  const replaced = new Map<unknown, string>(names.map((name) => [invented[name], given[name]]))
  return mapNestedValues(example, (name, value) => (name === 'sender_uri' ? undefined : (replaced.get(value) ?? value)))
}

/** Applies `replace` to each value, at any depth, that is neither object nor list; undefined removes the member. */
function mapNestedValues(object: JsonObject, replace: (name: string, value: unknown) => unknown): JsonObject {
  const below = (name: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((one) => below(name, one))
    return typeof value === 'object' && value !== null ? members(value) : replace(name, value)
  }
  const members = (value: object): JsonObject =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const after = below(name, member)
        return after === undefined ? [] : [[name, after]]
      }),
    )
  return members(object)
}
