/** The documented shape of a record as members to select: what a JSON schema says, and no more of it. */
import type { RecordType } from '@rollcall/protocol'

export interface MemberShape {
  readonly name: string
  /** The objects that may stand there, alone or in a list. */
  readonly object?: ObjectShape
  /** Something else than such an object may stand there as well. */
  readonly whole: boolean
}

export interface ObjectShape {
  readonly name: string
  readonly members: readonly MemberShape[]
}

/** The parts of JSON Schema by which records are documented. */
interface Schema {
  readonly title?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Names that GraphQL can spell; `@type` and the like are none. */
const SPELLABLE = /^(?!__)[A-Za-z_]\w*$/

export function membersOfSchema(schema: RecordType['schema']): readonly MemberShape[] {
  return membersOf(schema as Schema)
}

function membersOf({ properties = {} }: Schema): readonly MemberShape[] {
  return Object.entries(properties)
    .filter(([name]) => SPELLABLE.test(name))
    .map(([name, schema]) => {
      const alternatives = alternativesOf(schema)
      const objects = alternatives.filter((one) => one.title !== undefined && one.properties !== undefined)
      const [object] = objects
      if (object === undefined || objects.some(({ title }) => title !== object.title)) {
        return { name, whole: true }
      }
      const whole = objects.length < alternatives.length
      return { name, object: { name: object.title ?? name, members: membersOf(object) }, whole }
    })
}

/** A list stands for its elements, a union for each of its members. */
function alternativesOf(schema: Schema): readonly Schema[] {
  if (schema.items !== undefined) return alternativesOf(schema.items)
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(alternativesOf)
}
