/** A form is known by its members: which row of a table an object is, and that it has no member more. */
import { isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import { QueryProblem } from '../query.ts'
import { at } from './reader.ts'

export interface Form<Read> {
  /** An object that has all of these is of the form. */
  readonly members: readonly string[]
  readonly optional?: readonly string[]
  /** An object with further members is of another form, instead of being refused. */
  readonly exactly?: true
  readonly read: Read
}

/** An object of a form, with its possible conditions. */
export interface Members {
  readonly whole: JsonObject
  readonly path: string
  /** The member, undefined when it is absent; own members alone count. */
  get(name: string): Member | undefined
  /** The member, null when it is absent. */
  of(name: string): Member
}

/** A member of a query, and where it stands. */
export interface Member {
  readonly value: JsonValue
  readonly path: string
}

/**
 * The first form that the object has; undefined when it has none.
 * @throws QueryProblem when it has a member that the form does not know: a condition would go unnoticed
 */
export function formOf<Read>(
  forms: readonly Form<Read>[],
  value: JsonValue,
  path: string,
): { readonly read: Read; readonly members: Members } | undefined {
  if (!isJsonObject(value)) return undefined
  const form = forms.find(
    ({ members, exactly }) =>
      members.every((name) => Object.hasOwn(value, name)) &&
      (exactly !== true || Object.keys(value).length === members.length),
  )
  if (form === undefined) return undefined
  const known = [...form.members, ...(form.optional ?? [])]
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new QueryProblem(at(path, unknown), `is not a known member; known members are ${known.join(', ')}`)
  }
  return { read: form.read, members: membersOf(value, path) }
}

function membersOf(object: JsonObject, path: string): Members {
  const get: Members['get'] = (name) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined
    return value === undefined ? undefined : { value, path: at(path, name) }
  }
  return { whole: object, path, get, of: (name) => get(name) ?? { value: null, path: at(path, name) } }
}
