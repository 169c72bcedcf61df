/**
 * The schema for a result that we receive: an answer or a callback. This schema is less strict than that of a request: a result
 * is accepted when it can be read. Members that the client only displays may have any text, such as codes that we do not know.
 */
import type { TSchema } from 'typebox'
import type { Kind } from './kinds/kind.ts'

/**
 * Members whose text a client only displays. `subscriptions.status` means the member `status` in `subscriptions`, and no other
 * `status`.
 */
const ANY_TEXT_MEMBERS: readonly string[] = [
  'locale',
  'status_reason_code',
  'status_reason_message',
  'filter_type',
  'subscriptions.status',
  'subscription_status.status',
]

/** The members of a JSON schema that `receivedSchema` reads. */
interface ReceivedSchemaPart {
  readonly title?: string
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, ReceivedSchemaPart>>
  readonly required?: readonly string[]
  readonly items?: ReceivedSchemaPart
  readonly anyOf?: readonly ReceivedSchemaPart[]
  readonly pattern?: string
}

type Relaxing = Pick<Kind, 'relaxed'>

/**
 * Makes the schema for a received result, or for its header, from the documented one. Members in `ANY_TEXT_MEMBERS` may be any
 * text.
 * @param kinds the kinds of the registries that may send it: a rule that one of these kinds relaxes is relaxed
 */
export function receivedSchema(schema: TSchema, kinds: readonly Relaxing[] = []): TSchema {
  const relaxed = kinds.flatMap(({ relaxed }) => relaxed ?? [])
  const optional = (title: string | undefined, member: string): boolean =>
    relaxed.some(({ optional }) => title !== undefined && optional[title]?.includes(member))
  const unpatterned = new Set(relaxed.flatMap(({ unpatterned }) => unpatterned))

  const read = (part: ReceivedSchemaPart, name: string, around: string): ReceivedSchemaPart => {
    if (part.type === 'string') return readText(part, name, around)
    const { properties, required, items, anyOf } = part
    return {
      ...part,
      ...(items && { items: read(items, name, around) }),
      ...(anyOf && { anyOf: anyOf.map((branch) => read(branch, name, around)) }),
      ...(properties && {
        properties: Object.fromEntries(Object.entries(properties).map(([member, inner]) => [member, read(inner, member, name)])),
      }),
      ...(required && { required: required.filter((member) => !optional(part.title, member)) }),
    }
  }
  const readText = (part: ReceivedSchemaPart, name: string, around: string): ReceivedSchemaPart => {
    if (ANY_TEXT_MEMBERS.includes(name) || ANY_TEXT_MEMBERS.includes(`${around}.${name}`)) return { type: 'string' }
    if (!unpatterned.has(name)) return part
    const { pattern: _pattern, ...rest } = part
    return rest
  }
  return read(schema as ReceivedSchemaPart, '', '') as TSchema
}
