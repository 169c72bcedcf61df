/** Reads the elements of a compound from a record. The values of one element stay together. */
import { isJsonObject, type JsonValue } from '../json.ts'
import type { Attribute, Compound, CompoundMember } from '../kinds/kind.ts'
import { oncePerObject } from '../once-per.ts'
import type { AttributeScalar } from './attribute-types.ts'
import { type ReadingNotes, readAttribute } from './read-attribute.ts'
import { type CompiledPath, compilePath, visitValuesAt } from './walk.ts'

/** The values of one element by the names of the compound's members. A member without a value has no entry. */
export interface Element {
  readonly [member: string]: AttributeScalar
}

type ElementDraft = { [member: string]: AttributeScalar }

/** The split paths of a compound, and its members in the groups that `readElements` needs. */
interface CompoundReadingPlan {
  readonly paths: readonly CompiledPath[]
  readonly members: readonly CompoundMember[]
  /** Members with `record_paths`, each with the attribute that reads it from the record, outside of the elements. */
  readonly outside: readonly { readonly name: string; readonly inRecord: Attribute }[]
  /** Members without `record_paths`. At the path "", the record itself is the element, and only these members are read in it. */
  readonly ofRecord: readonly CompoundMember[]
}

const NO_ELEMENTS: readonly Element[] = []

const readingPlanOfCompound = oncePerObject(
  ({ paths, members }: Compound): CompoundReadingPlan => ({
    paths: paths.map(compilePath),
    members,
    outside: members.flatMap((member) =>
      member.record_paths === undefined
        ? []
        : [{ name: member.name, inRecord: { ...member, paths: member.record_paths, many: true as const } }],
    ),
    ofRecord: members.filter((member) => member.record_paths === undefined),
  }),
)

/**
 * The elements of a compound at the first of its paths that has an element, in order; equal elements are returned once. An
 * element of a list must have a value for at least one member. If elements lack a member, its value is read from the record
 * (`record_paths`). If the record has several different values there, the elements stay without the member, and each value is
 * returned as a further element that has only this member. Never throws; the time grows with the document.
 */
export function readElements(compound: Compound, document: JsonValue, notes?: ReadingNotes): readonly Element[] {
  const plan = readingPlanOfCompound(compound)
  for (const path of plan.paths) {
    const elements = path.length === 0 ? [recordAsElement(plan, document, notes)] : elementsAtPath(plan, document, path, notes)
    if (elements.length === 0) continue
    addMembersFromRecord(plan, document, elements, notes)
    const found = distinctElements(plan, elements)
    if (found.length > 0) return found
  }
  return NO_ELEMENTS
}

function elementsAtPath(
  { members }: CompoundReadingPlan,
  document: JsonValue,
  path: CompiledPath,
  notes?: ReadingNotes,
): ElementDraft[] {
  const elements: ElementDraft[] = []
  visitValuesAt(document, path, (leaf) => {
    const element = readElement(members, leaf, notes)
    if (element !== null) elements.push(element)
    return false
  })
  return elements
}

function recordAsElement(plan: CompoundReadingPlan, document: JsonValue, notes?: ReadingNotes): ElementDraft {
  return (isJsonObject(document) ? readElement(plan.ofRecord, document, notes) : null) ?? {}
}

function readElement(members: readonly CompoundMember[], leaf: JsonValue, notes?: ReadingNotes): ElementDraft | null {
  let element: ElementDraft | null = null
  for (const member of members) {
    const value = readAttribute(member, leaf, notes)
    if (value === null) continue
    notes?.readMember(member)
    element ??= {}
    // A member of a compound is never `many`, so `readAttribute` gives one value.
    element[member.name] = value as AttributeScalar
  }
  return element
}

function addMembersFromRecord(
  { outside }: CompoundReadingPlan,
  document: JsonValue,
  elements: ElementDraft[],
  notes?: ReadingNotes,
): void {
  const count = elements.length
  for (const { name, inRecord } of outside) {
    const lacking = elements.slice(0, count).filter((element) => element[name] === undefined)
    if (lacking.length === 0) continue
    const said = (readAttribute(inRecord, document, notes) ?? []) as readonly AttributeScalar[]
    const [first, ...others] = said
    if (first === undefined) continue
    notes?.readMember(inRecord)
    const text = JSON.stringify(first)
    if (others.every((value) => JSON.stringify(value) === text)) {
      for (const element of lacking) element[name] = first
    } else {
      for (const value of said) elements.push({ [name]: value })
    }
  }
}

function distinctElements({ members }: CompoundReadingPlan, elements: readonly ElementDraft[]): readonly Element[] {
  const [first] = elements
  if (first === undefined) return NO_ELEMENTS
  if (elements.length === 1) return isEmptyElement(first) ? NO_ELEMENTS : elements
  const found = new Map<string, Element>()
  for (const element of elements) {
    if (isEmptyElement(element)) continue
    const key = JSON.stringify(members.map(({ name }) => element[name]))
    if (!found.has(key)) found.set(key, element)
  }
  return [...found.values()]
}

function isEmptyElement(element: Element): boolean {
  return Object.keys(element).length === 0
}
