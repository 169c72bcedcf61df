/** Reads selection sets of GraphQL: inserts fragments, applies directives, and merges fields of the same name. */

import { isJsonObject, type JsonObject, type JsonValue, searchKey } from '@rollcall/protocol'
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  getDirectiveValues,
  type InlineFragmentNode,
  Kind as Node,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import type { VisibleTreeNode } from '../../model/grant.ts'
import { joinPathStep } from '../forms/reader.ts'
import { QueryProblem } from '../query.ts'
import type { GraphqlDocument } from './document.ts'
import type { ObjectField, ObjectType } from './types.ts'

/** The members that are selected from an object. */
export interface Selection {
  /** The name of the object's type, for `__typename`. */
  readonly type: string
  readonly chosen: readonly SelectedMember[]
}

/** One selected member. */
export interface SelectedMember {
  readonly name: string
  /** Reads the member's value; null for `__typename`. */
  readonly read: ObjectField['read'] | null
  /** The selection from the object in the member; absent when the whole value is answered. */
  readonly of?: Selection
}

/** All fields that have the same name in the answer, such as `a { b }` and `a { c }`. */
export type FieldGroup = readonly [FieldNode, ...FieldNode[]]

/** The trees of visible members that apply to one object: a member is visible when any of them shows it. Null: all is visible. */
export type VisibleMemberTrees = readonly VisibleTreeNode[] | null

type Fragment = InlineFragmentNode | FragmentDefinitionNode

/** The largest number of fields and fragments in a query. Each object that uses a fragment counts its content again. */
const MAX_SELECTED_FIELDS = 500
/**
 * The most repeated fields in a query. If a query selects a field of an object under several names (aliases), each name after the
 * first counts, because it makes answers longer.
 */
const MAX_REPEATED_FIELDS = 20

/** Reads the selections of one document, and counts them. */
export class SelectionReader {
  readonly #document: GraphqlDocument
  #selected = 0
  #repeated = 0

  constructor(document: GraphqlDocument) {
    this.#document = document
  }

  /**
   * The fields that the selection sets of one object select, by their name in the answer.
   * @param type the name of the object's type
   */
  fields(sets: readonly SelectionSetNode[], type: string, path: string): ReadonlyMap<string, FieldGroup> {
    const groups = new Map<string, [FieldNode, ...FieldNode[]]>()
    const used = new Set<Fragment>()
    const add = (field: FieldNode): void => {
      const name = field.alias?.value ?? field.name.value
      const group = groups.get(name)
      if (group === undefined) groups.set(name, [field])
      else if (group[0].name.value === field.name.value) group.push(field)
      else throw new QueryProblem(joinPathStep(path, name), 'one name in the answer must mean one field')
    }
    const find = (set: SelectionSetNode): void => {
      if (set.selections.length === 0) throw new QueryProblem(path, 'must select at least one field')
      for (const selection of set.selections) {
        this.#count(path)
        if (!this.#isIncluded(selection, path)) continue
        if (selection.kind === Node.FIELD) add(selection)
        else {
          const fragment = this.#fragment(selection)
          if (used.has(fragment)) continue
          used.add(fragment)
          checkFragmentType(fragment.typeCondition?.name.value ?? type, type, path)
          find(fragment.selectionSet)
        }
      }
    }
    for (const set of sets) find(set)
    return groups
  }

  /**
   * Returns the members of an object that a query selects.
   * @param fields the fields of the query whose value is the object; their selection sets name the members
   * @param seen the visible parts of the object; null when everything is visible
   * @throws QueryProblem also for a field that may not be seen, with the text for an unknown one
   */
  of(type: ObjectType, fields: FieldGroup, path: string, seen: VisibleMemberTrees): Selection {
    const sets = selectionSetsOf(fields)
    if (sets.length < fields.length) throw new QueryProblem(path, `must select fields of ${type.name}`)
    const groups = this.fields(sets, type.name, path)
    const names = new Set([...groups.values()].map(([field]) => field.name.value.toLowerCase()))
    this.#repeated += groups.size - names.size
    if (this.#repeated > MAX_REPEATED_FIELDS) {
      throw new QueryProblem(path, `a query may repeat a field under another name ${MAX_REPEATED_FIELDS} times`)
    }
    return {
      type: type.name,
      chosen: [...groups].map(([name, group]) => this.#chosen(type, name, group, joinPathStep(path, name), seen)),
    }
  }

  #chosen(type: ObjectType, name: string, group: FieldGroup, path: string, seen: VisibleMemberTrees): SelectedMember {
    const [first] = group
    if (group.some((field) => (field.arguments ?? []).length > 0)) {
      throw new QueryProblem(path, 'must have no arguments: conditions stand at the root field')
    }
    if (first.name.value === '__typename' && selectionSetsOf(group).length === 0) return { name, read: null }
    const field = type.fields.get(first.name.value.toLowerCase())
    if (field === undefined || !isFieldVisible(seen, field)) {
      const names = type.names.filter((one) => isFieldVisible(seen, type.fields.get(one.toLowerCase())))
      const rule = names.length === 0 ? 'no field can be selected here' : `must be a field of ${type.name}: ${names.join(', ')}`
      throw new QueryProblem(path, rule)
    }
    const sets = selectionSetsOf(group)
    if (sets.length === 0 && field.whole) return { name, read: field.read }
    if (field.type === undefined) throw new QueryProblem(path, 'must have no selection: it has no fields')
    return { name, read: field.read, of: this.of(field.type, group, path, visibleTreesBelowField(seen, field)) }
  }

  #fragment(selection: InlineFragmentNode | FragmentSpreadNode): Fragment {
    if (selection.kind === Node.INLINE_FRAGMENT) return selection
    const fragment = this.#document.fragments.get(selection.name.value)
    if (fragment !== undefined) return fragment
    throw new Error('a document has every fragment that it uses')
  }

  #isIncluded(selection: SelectionNode, path: string): boolean {
    const asked = (directive: typeof GraphQLSkipDirective): unknown =>
      getDirectiveValues(directive, selection, this.#document.directiveVariables)?.if
    try {
      return asked(GraphQLSkipDirective) !== true && asked(GraphQLIncludeDirective) !== false
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error
      // GraphQL allows a nullable variable here if the variable has a default value. The message may still give null for it.
      throw new QueryProblem(path, 'the argument "if" of a directive must be true or false')
    }
  }

  #count(path: string): void {
    this.#selected += 1
    if (this.#selected <= MAX_SELECTED_FIELDS) return
    throw new QueryProblem(path, `a query must select at most ${MAX_SELECTED_FIELDS} fields, fragments included`)
  }
}

/** The trees of what is visible inside the value of a field; null when `seen` is null. */
function visibleTreesBelowField(seen: VisibleMemberTrees, { places }: ObjectField): VisibleMemberTrees {
  if (seen === null) return null
  const found = places.flatMap((place) => {
    let parts = withRelatedPersonTrees(seen)
    for (const segment of place === '' ? [] : place.split('.')) {
      const whole = parts.filter((part) => part.whole)
      if (whole.length > 0) return whole
      parts = withRelatedPersonTrees(parts.flatMap(({ members }) => members.get(searchKey(segment)) ?? []))
    }
    return parts
  })
  return found.some(({ whole }) => whole) ? null : found
}

/** Adds the trees for related persons: a related person is visible like a record of that type. */
const withRelatedPersonTrees = (parts: readonly VisibleTreeNode[]): readonly VisibleTreeNode[] =>
  parts.flatMap((part) => (part.like === undefined ? [part] : [part, part.like]))

function isFieldVisible(seen: VisibleMemberTrees, field: ObjectField | undefined): boolean {
  if (field === undefined) return false
  const parts = visibleTreesBelowField(seen, field)
  if (parts === null) return true
  return parts.some(({ value, identifiers, members }) => value || identifiers.length > 0 || members.size > 0)
}

function selectionSetsOf(fields: readonly FieldNode[]): SelectionSetNode[] {
  return fields.flatMap(({ selectionSet }) => selectionSet ?? [])
}

function checkFragmentType(condition: string, type: string, path: string): void {
  if (condition === type) return
  throw new QueryProblem(path, `a fragment must be on ${type} here`)
}

/**
 * The selected members of an object, under the names of the selection; null for a member that the object does not have.
 * Lists stay lists, single objects stay single, whatever the schema says.
 */
export function applySelection(selection: Selection, object: JsonObject): JsonObject {
  return Object.fromEntries(
    selection.chosen.map(({ name, read, of }) => {
      if (read === null) return [name, selection.type]
      const held = read(object)
      return [name, of === undefined ? (held ?? null) : selectFromValue(of, held)]
    }),
  )
}

/** Applies a selection to a value or to each element of a list. A value that is not an object gives null. */
function selectFromValue(selection: Selection, held: JsonValue | undefined): JsonValue {
  if (Array.isArray(held)) return held.map((element) => selectFromObject(selection, element))
  return selectFromObject(selection, held)
}

function selectFromObject(selection: Selection, held: JsonValue | undefined): JsonValue {
  return isJsonObject(held) ? applySelection(selection, held) : null
}
