/**
 * Carries out `tolerance.ts`: makes a plan from a schema and its rows of accepted spellings, and applies the plan to a
 * message. Only changed parts are copied.
 */
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/**
 * Reads a value that may be written in another way. Returns the canonical value; the same value when it cannot be read; undefined
 * when the member counts as missing.
 */
export type MemberValueReader = (value: JsonValue) => JsonValue | undefined

/** The forms of an object that are accepted besides the documented form. */
export interface ToleratedForms {
  /** For each accepted name of a member, its canonical name. If both have a value, the canonical one is used. */
  readonly spellings?: Readonly<Record<string, string>>
  /** For each member, by its canonical name, the function that reads its value. */
  readonly readings?: Readonly<Record<string, MemberValueReader>>
  /** Members that may be missing although the documented schema requires them. */
  readonly optional?: readonly string[]
  /** For each member, the forms accepted in its object, or in each object of its array. */
  readonly inside?: Readonly<Record<string, ToleratedForms>>
}

/** The changes that `applyTolerance` makes in an object, by its accepted forms (`ToleratedForms`) and its optional members. */
export interface TolerancePlan {
  readonly spellings: readonly (readonly [accepted: string, canonical: string])[]
  readonly readings: readonly (readonly [member: string, reading: MemberValueReader])[]
  readonly inside: readonly (readonly [member: string, plan: TolerancePlan])[]
  /**
   * Members that may be missing. `object` is true when the schema or the forms name members inside the member: {} then counts as
   * missing.
   */
  readonly optional: readonly { readonly member: string; readonly object: boolean }[]
}

/**
 * The parts of a schema that `makeTolerancePlan` reads. The schema of a union or of a `Type.Record` has no `properties`: inside
 * such a value, only the forms that `ToleratedForms` lists are changed.
 */
export interface ObjectSchema {
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, ObjectSchema>>
  readonly required?: readonly string[]
  readonly items?: ObjectSchema
}

/** Makes the plan for a schema and the forms that are accepted besides it. */
export function makeTolerancePlan(schema: ObjectSchema, rows: ToleratedForms): TolerancePlan {
  const { properties = {}, required = [] } = schema.items ?? schema
  const inside = new Set([...Object.keys(properties), ...Object.keys(rows.inside ?? {})])
  const optional = Object.keys(properties).filter((member) => !required.includes(member))
  return {
    spellings: Object.entries(rows.spellings ?? {}),
    readings: Object.entries(rows.readings ?? {}),
    inside: [...inside].flatMap((member) => {
      const plan = makeTolerancePlan(properties[member] ?? {}, rows.inside?.[member] ?? {})
      return Object.values(plan).every((part) => part.length === 0) ? [] : [[member, plan] as const]
    }),
    optional: [...optional, ...(rows.optional ?? [])].map((member) => ({
      member,
      object: properties[member]?.properties !== undefined || rows.inside?.[member] !== undefined,
    })),
  }
}

/** Applies a plan to an object, or to each object of an array. Copies only what it changes. */
export function applyTolerance(plan: TolerancePlan, value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return replaceElements(value, (element) => (isJsonObject(element) ? applyToObject(plan, element) : element))
  }
  return isJsonObject(value) ? applyToObject(plan, value) : value
}

function applyToObject(plan: TolerancePlan, object: JsonObject): JsonObject {
  let result = object
  const put = (member: string, value: JsonValue | undefined) => {
    // A spread keeps a member called __proto__ an ordinary member.
    if (result === object) result = { ...object }
    if (value === undefined) delete result[member]
    else result[member] = value
  }
  for (const [accepted, canonical] of plan.spellings) {
    const value = findOwnMember(result, accepted)
    if (value === undefined) continue
    if (isBlankValue(findOwnMember(result, canonical))) put(canonical, value)
    put(accepted, undefined)
  }
  for (const [member, reading] of plan.readings) {
    const value = findOwnMember(result, member)
    if (value === undefined) continue
    const read = reading(value)
    if (read !== value) put(member, read)
  }
  for (const [member, inner] of plan.inside) {
    const value = findOwnMember(result, member)
    if (value === undefined) continue
    const read = applyTolerance(inner, value)
    if (read !== value) put(member, read)
  }
  for (const { member, object: mayBeEmpty } of plan.optional) {
    const value = findOwnMember(result, member)
    if (value === undefined) continue
    if (isBlankValue(value) || (mayBeEmpty && isJsonObject(value) && Object.keys(value).length === 0)) put(member, undefined)
  }
  return result
}

/** Reads a member of the object itself: a name such as `constructor` must not find anything inherited. */
function findOwnMember(object: JsonObject, member: string): JsonValue | undefined {
  return Object.hasOwn(object, member) ? object[member] : undefined
}

/** True for undefined, null and an empty text. Peers write null or an empty text for a member without a value (D33). */
function isBlankValue(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === ''
}

/** The array with replaced elements; the same array when nothing changes. */
export function replaceElements(array: JsonValue[], replace: (element: JsonValue) => JsonValue): JsonValue[] {
  let result = array
  for (const [index, element] of array.entries()) {
    const replacement = replace(element)
    if (replacement === element) continue
    if (result === array) result = array.slice()
    result[index] = replacement
  }
  return result
}
