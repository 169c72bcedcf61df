/** The terms of a grant while they are edited; the server checks them. */
import type { Answer } from '../../api/client.ts'

export type Terms = Answer<'/admin/v1/grants'>[number]['terms']
export type Draft = Readonly<Record<string, unknown>>
export type GrantedNames = 'all' | readonly string[]

/** The terms with which the form for a new grant begins. */
export const EMPTY_DRAFT: Draft = { operations: [], see: [], basis: 'law' }

/**
 * The names that the form shows for an absent member of a grant. For an absent member that is not listed here, it shows no names.
 */
const NAMES_BY_ABSENT_MEMBER: Readonly<Record<string, GrantedNames>> = {
  record_types: 'all',
  identifier_types: 'all',
  query_forms: ['identifier'],
}

/** The names that the form shows for a member of the draft. */
export function grantedNames(draft: Draft, member: string): GrantedNames {
  const given = draft[member] ?? NAMES_BY_ABSENT_MEMBER[member] ?? []
  return given === 'all' ? 'all' : (given as readonly string[])
}

export const isGrantedName = (names: GrantedNames, name: string): boolean => names === 'all' || names.includes(name)

interface AttributeAliasesAndPaths {
  readonly aliases: readonly string[]
  /** The paths of the attribute in a record. */
  readonly paths: readonly string[]
}

/**
 * Finds a name in the grant that grants an attribute under another name: one of the attribute's other names, or a member of the
 * record that contains the attribute. Such a member grants seeing, but not asking.
 */
export function findNameGrantingAttribute(
  names: GrantedNames,
  member: 'ask' | 'see',
  { aliases, paths }: AttributeAliasesAndPaths,
): string | undefined {
  if (names === 'all') return undefined
  const isWithin = (name: string) => paths.some((path) => `${path}.`.startsWith(`${name}.`))
  return names.find((name) => aliases.includes(name) || (member === 'see' && isWithin(name)))
}

/** Returns the draft with a member changed; undefined removes the member. */
export function withMember(draft: Draft, member: string, value: unknown): Draft {
  const { [member]: _, ...others } = draft
  return value === undefined ? others : { ...draft, [member]: value }
}

/** Adds or removes a name. Removing one from "all" leaves all other known names. */
export function toggleName(names: GrantedNames, name: string, known: readonly string[]): GrantedNames {
  const listed = names === 'all' ? known : names
  return listed.includes(name) ? listed.filter((one) => one !== name) : [...listed, name]
}

interface DraftChange {
  readonly member: string
  readonly before: unknown
  readonly after: unknown
}

/** Lists the members that differ between two drafts. The order of names does not matter. */
export function changedMembers(before: Draft, after: Draft): readonly DraftChange[] {
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return members
    .filter((member) => comparableText(before[member]) !== comparableText(after[member]))
    .map((member) => ({ member, before: before[member], after: after[member] }))
}

const comparableText = (value: unknown): string | undefined => JSON.stringify(Array.isArray(value) ? [...value].sort() : value)

/** Returns a value as text for people; undefined stays undefined. */
export function draftText(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return Array.isArray(value) ? value.join(', ') || '–' : JSON.stringify(value)
}

/** Reads a number; undefined for empty text. Other text is returned, without outer spaces: the server says what is wrong. */
export function readDraftNumber(text: string): number | string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed)
}

/** Sorts members by name, so that two documents can be compared line by line. */
export function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([name, member]) => [name, sortMembers(member)]))
}
