/**
 * The document for readers of the reference page: without references to our sources, and with examples of one server.
 */
import type { JsonObject } from './components.ts'

/** A reference to a source that readers of the page do not have, such as `spec "Header"` or N12. */
const SOURCE = /spec "[^"]*"|public standard(?: [\d.]+)?|\b[NDG]\d+\b:?|\b\d+(?:\.\d+)+\b/g
/** Words and numbers that only occur beside such a reference. */
const BESIDE = /\b(?:responses|required members|\d+)\b|[,;\s]/g

/** The text without references to our sources in brackets; references to an RFC stay. */
export function withoutSources(text: string): string {
  return text.replaceAll(/ ?\(([^()]*)\)/g, (whole, inside: string) => {
    if (inside.startsWith('RFC')) return whole.replace(/, public standard [\d.]+/, '')
    const rest = inside.replaceAll(SOURCE, '').trim()
    if (rest === inside.trim()) return whole
    return rest.replaceAll(BESIDE, '') === '' ? '' : ` (${rest})`
  })
}

/** Members of the document that hold our texts. */
const TEXTS = new Set(['description', 'summary'])

/** The whole document without the sources of its texts. */
export function textsWithoutSources<Document extends object>(document: Document): Document {
  return mapped(document as JsonObject, (name, value) =>
    TEXTS.has(name) && typeof value === 'string' ? withoutSources(value) : value,
  ) as Document
}

/** The sender, receiver and person in the examples of one server. */
export interface ExampleOf {
  readonly sender_id: string
  readonly receiver_id: string
  /** The primary identifier of an existing record. */
  readonly identifier_value: string
}

/**
 * An example request of a participant of one server about an existing record. Its answer is fetched with txn/status, so
 * it has no address for a callback.
 * @param invented the values in the example that are replaced
 */
export function exampleAt(example: JsonObject, invented: ExampleOf, given: ExampleOf): JsonObject {
  const names: readonly (keyof ExampleOf)[] = ['sender_id', 'receiver_id', 'identifier_value']
  const replaced = new Map<unknown, string>(names.map((name) => [invented[name], given[name]]))
  return mapped(example, (name, value) => (name === 'sender_uri' ? undefined : (replaced.get(value) ?? value)))
}

/** Replaces each value that is no object and no list; undefined: removes the member. */
function mapped(object: JsonObject, replace: (name: string, value: unknown) => unknown): JsonObject {
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
