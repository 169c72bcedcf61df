/** Turns TypeBox schemas into components of an OpenAPI document, and into references to them. */
import type { TSchema } from 'typebox'

/** Matches a name that OpenAPI allows for a component (OpenAPI 3.1, "Components Object"). */
const COMPONENT_NAME_PATTERN = /^[A-Za-z][A-Za-z0-9._-]*$/

export type JsonObject = { [member: string]: unknown }

/** Collects schemas. A schema whose title OpenAPI allows as a name becomes the component with that name. */
export interface ComponentCollector {
  /** A reference (`$ref`) to a schema whose title OpenAPI allows as a name; any other schema itself, with references inside. */
  refer(schema: TSchema): JsonObject
  /** The collected schemas by their titles. */
  readonly schemas: JsonObject
}

/** Makes a collector of schemas. Its `refer` throws an Error when two different schemas have the same title. */
export function makeComponentCollector(): ComponentCollector {
  const schemas: JsonObject = {}

  function refer(schema: TSchema): JsonObject {
    const { title } = schema as { title?: unknown }
    if (typeof title !== 'string' || !COMPONENT_NAME_PATTERN.test(title)) return inside(schema)
    const component = inside(schema)
    if (schemas[title] === undefined) schemas[title] = component
    else if (JSON.stringify(schemas[title]) !== JSON.stringify(component)) {
      throw new Error(`two different schemas are titled ${title}`)
    }
    return { $ref: `#/components/schemas/${title}` }
  }

  /** The schema itself, in which each titled schema at any depth is replaced by a reference. */
  function inside(schema: TSchema): JsonObject {
    return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, below(value)]))
  }

  function below(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(below)
    return typeof value === 'object' && value !== null ? refer(value) : value
  }

  return { refer, schemas }
}
