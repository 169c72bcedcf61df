/**
 * Identifier types that an operator adds to a kind for one registry, and primary identifier types that replace those of
 * the kind: checks them, and makes the extended kind.
 */
import { namesOf } from '../attributes/record-keys.ts'
import { isContact } from './contact.ts'
import { KINDS } from './index.ts'
import type { IdentifierSource, IdentifierType, Kind, RecordType } from './kind.ts'
import { resolveSearchable } from './searchable.ts'
import { patternProblem } from './value-pattern.ts'

/** The identifier types and primary identifier types that an operator has chosen for one registry. */
export interface IdentifierAdditions {
  /**
   * New types; or, for a type of the kind: names to add, forms of values that replace those of the kind, and whether searches may
   * be sorted by the type.
   */
  readonly identifier_types: readonly IdentifierType[]
  /** The new primary identifier types by name of record type; record types without an entry keep theirs. */
  readonly primary_identifiers: Readonly<Record<string, string>>
}

/**
 * The kind with the additions; the same object when the additions change nothing. Otherwise all its record types are new objects,
 * because caches with a record type as key depend on identifier types. First check the additions with `identifierTypeProblem` and
 * `primaryProblem`.
 */
export function withIdentifiers(kind: Kind, { identifier_types, primary_identifiers }: IdentifierAdditions): Kind {
  const primaries = kind.record_types.flatMap(({ name, primary_identifier: from }) => {
    const to = primary_identifiers[name]
    return to === undefined || to === from ? [] : [{ record_type: name, from, to }]
  })
  if (identifier_types.length === 0 && primaries.length === 0) return kind
  // Identifiers without a type were read as the old primary type. They are now read as the new primary type, in records of all
  // types.
  const source = (row: IdentifierSource): IdentifierSource => {
    const changed = primaries.find(({ from }) => from === row.type)
    return changed === undefined ? row : { ...row, type: changed.to }
  }
  const sortable = identifier_types.filter((type) => type.sortable).map(({ name }) => name)
  const changed = (recordType: RecordType): RecordType => {
    const { name, primary_identifier, identifiers, sort_identifiers = [] } = recordType
    return {
      ...recordType,
      primary_identifier: primary_identifiers[name] ?? primary_identifier,
      // Searches may still be sorted by the identifier type that is primary in the kind.
      sort_identifiers: [...sort_identifiers, primary_identifier, ...sortable],
      identifiers: identifiers.map(source),
    }
  }
  const [first, ...others] = kind.record_types
  return {
    ...kind,
    identifier_types: identifier_types.reduce(withIdentifierType, kind.identifier_types),
    record_types: [changed(first), ...others.map(changed)],
  }
}

function withIdentifierType(types: readonly IdentifierType[], added: IdentifierType): readonly IdentifierType[] {
  const own = types.find(({ name }) => name === added.name)
  if (own === undefined) return [...types, added]
  const aliases = [...new Set([...(own.aliases ?? []), ...(added.aliases ?? [])])]
  const patterns = added.patterns ?? own.patterns
  const both: IdentifierType = {
    ...own,
    ...(added.sortable && { sortable: true }),
    ...(aliases.length > 0 && { aliases }),
    ...(patterns !== undefined && { patterns }),
  }
  return types.map((one) => (one === own ? both : one))
}

/**
 * The identifier type with this name or alias, in any case, from the first kind that has it; undefined when no kind has it.
 * Several kinds share identifier types.
 */
export function sharedIdentifierType(spelling: string): IdentifierType | undefined {
  const wanted = spelling.toLowerCase()
  return KINDS.flatMap((kind) => kind.identifier_types).find((type) =>
    namesOf(type).some((name) => name.toLowerCase() === wanted),
  )
}

/** The normalisers that an operator may choose. */
export const COMPARED_AS = ['code', 'phone', 'email'] as const satisfies IdentifierType['normaliser'][]
const MAX_IDENTIFIER_TYPES = 50
const MAX_ALIASES = 20
const MAX_PATTERNS = 10
const TYPE_NAME_PATTERN = /^[A-Z][A-Z0-9_]{0,40}$/
const TYPE_ALIAS_PATTERN = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
/** Words of the query language, which no added identifier type or attribute may have as a name or alias. */
export const RESERVED_QUERY_WORDS = ['and', 'or', 'nor', 'not', 'where', 'query', 'expression', 'type', 'value']

/** Why an identifier type cannot be added to a kind: the member and the rule; null when it can. */
export function identifierTypeProblem(kind: Kind, added: IdentifierType): string | null {
  const { name, aliases = [], normaliser, patterns = [], sortable } = added
  if (!TYPE_NAME_PATTERN.test(name)) {
    return 'name: must be 1 to 41 capital letters, digits and _, beginning with a letter; queries may write it in any case'
  }
  const shared = sharedIdentifierType(name)
  if (shared !== undefined && shared.name !== name) return `name: ${name} is another name of ${shared.name}; use that name`
  const own = kind.identifier_types.find((type) => type.name === name)
  if (own === undefined && kind.identifier_types.length >= MAX_IDENTIFIER_TYPES) {
    return `name: a registry has at most ${MAX_IDENTIFIER_TYPES} identifier types`
  }
  if (own === undefined && (isQueryWord(name) || isNameOfSearchable(kind, name))) {
    return `name: ${name} already means something else in queries of this registry`
  }
  if (own !== undefined && aliases.length + patterns.length === 0 && !sortable) {
    return `name: the registry has ${name} already; give another name for it, the form of its values, or that it is sortable`
  }
  const known = own ?? shared
  if (known !== undefined && known.normaliser !== normaliser) {
    return `compared_as: values of ${name} are compared as ${known.normaliser} in every registry`
  }
  return aliasProblem(kind, added, aliases) ?? patternsProblem(added, patterns)
}

const isQueryWord = (name: string): boolean => RESERVED_QUERY_WORDS.includes(name.toLowerCase())

const isNameOfSearchable = (kind: Kind, name: string): boolean =>
  kind.record_types.some((recordType) => resolveSearchable(kind, recordType, name) !== undefined)

function aliasProblem(kind: Kind, { name }: IdentifierType, aliases: readonly string[]): string | null {
  if (aliases.length > MAX_ALIASES) return `aliases: must be at most ${MAX_ALIASES} names`
  const seen = new Set([name.toLowerCase()])
  for (const [at, alias] of aliases.entries()) {
    if (!TYPE_ALIAS_PATTERN.test(alias)) {
      return `aliases[${at}]: must be 1 to 64 letters, digits and _, beginning with a letter`
    }
    if (seen.has(alias.toLowerCase())) return `aliases[${at}]: repeats a name`
    seen.add(alias.toLowerCase())
    const shared = sharedIdentifierType(alias)
    if (shared?.name === name) continue
    if (shared !== undefined) return `aliases[${at}]: ${alias} is a name of ${shared.name}`
    if (isQueryWord(alias) || isNameOfSearchable(kind, alias)) {
      return `aliases[${at}]: ${alias} already means something else in queries of this registry`
    }
  }
  return null
}

function patternsProblem({ normaliser }: IdentifierType, patterns: readonly string[]): string | null {
  if (patterns.length > MAX_PATTERNS) return `patterns: must be at most ${MAX_PATTERNS}`
  if (patterns.length > 0 && normaliser !== 'code') return 'patterns: only for values that are compared as code'
  for (const [at, pattern] of patterns.entries()) {
    const problem = patternProblem(pattern)
    if (problem !== null) return `patterns[${at}]: ${problem}`
  }
  return null
}

/** Why an identifier type cannot be a record type's primary one; null when it can. @param kind with the added types */
export function primaryProblem(kind: Kind, record_type: string, primary: string): string | null {
  const recordType = kind.record_types.find(({ name }) => name === record_type)
  if (recordType === undefined) {
    const names = kind.record_types.map(({ name }) => name)
    return `primary_identifiers: names ${record_type}; the record types are ${names.join(', ')}`
  }
  const candidates = kind.identifier_types.filter((type) => !isContact(type))
  const type = kind.identifier_types.find(({ name }) => name === primary)
  if (type === undefined || isContact(type)) {
    const names = candidates.map(({ name }) => name)
    return `primary_identifiers.${record_type}: must be one of ${names.join(', ')}; to use another type, add the registry without it, then rollcall identifier-type add and rollcall registry set --primary`
  }
  const other = kind.record_types.find(({ name, primary_identifier }) => name !== record_type && primary_identifier === primary)
  return other === undefined ? null : `primary_identifiers.${record_type}: ${primary} is the primary identifier of ${other.name}`
}
