/**
 * Reduces a kind to what a grant allows to ask about. Queries are read with the reduced kind: a name that is not allowed, also an
 * alias or a path, is then refused like an unknown name, and messages list allowed names only.
 */
import {
  type Attribute,
  type Compound,
  type IdentifierType,
  type Kind,
  namesOf,
  type RecordType,
  searchKey,
} from '@rollcall/protocol'
import { ALL_NAMES, type GrantedNames, isNameGranted } from '../model/grant.ts'
import { GrantProblem } from './grant-problem.ts'

/** The names that a grant allows in requests. */
export interface AskableNames {
  /** The granted record types, at least one. */
  readonly recordTypes: readonly RecordType[]
  /** The canonical names of the identifier types; null for all types. */
  readonly identifierTypes: GrantedNames
  /** The canonical names of the event types; null for all. */
  readonly eventTypes: GrantedNames
  /** The names that queries may use, in any spelling: of attributes, lists, and attributes of elements; or `all`. */
  readonly ask: typeof ALL_NAMES | readonly string[]
}

/**
 * Returns the reduced kind. @throws GrantProblem there is no record type, a name is unknown, or `ask` names an age but not the
 * birth date from which it is counted
 */
export function reduceKindToAskableNames(kind: Kind, { recordTypes, identifierTypes, eventTypes, ask }: AskableNames): Kind {
  const isWhole =
    recordTypes.length === kind.record_types.length && identifierTypes === null && eventTypes === null && ask === ALL_NAMES
  if (isWhole) return kind
  if (ask !== ALL_NAMES) checkAskableNames(recordTypes, ask)
  const [first, ...others] = recordTypes.map((recordType) => reduceRecordTypeToAskableNames(recordType, ask))
  if (first === undefined) throw new GrantProblem('record_types', 'must name one at least')
  return {
    ...reduceIdentifierTypes(kind, identifierTypes),
    record_types: [first, ...others],
    event_types: kind.event_types.filter(({ name }) => isNameGranted(eventTypes, name)),
  }
}

/** Returns the kind with only these identifier types, and without unlisted ones. @param names null: the whole kind */
export const reduceIdentifierTypes = (kind: Kind, names: GrantedNames): Kind =>
  names === null
    ? kind
    : {
        ...kind,
        identifier_types: kind.identifier_types.filter(({ name }) => isNameGranted(names, name)),
        unlisted_identifiers: false,
      }

function reduceRecordTypeToAskableNames(recordType: RecordType, ask: AskableNames['ask']): RecordType {
  if (ask === ALL_NAMES) return recordType
  const compounds = (recordType.compounds ?? []).flatMap((compound): Compound[] => {
    const members = compound.members.filter((member) => hasNameAmong(compound, ask) || hasNameAmong(member, ask))
    return members.length === 0 ? [] : [{ ...compound, members }]
  })
  return { ...recordType, attributes: recordType.attributes.filter((row) => hasNameAmong(row, ask)), compounds }
}

/** True when one of the names, in any spelling, is a name of the row. */
const hasNameAmong = (row: Attribute | Compound | IdentifierType, names: readonly string[]): boolean => {
  const own = namesOf(row).map(searchKey)
  return names.some((name) => own.includes(searchKey(name)))
}

function checkAskableNames(recordTypes: readonly RecordType[], ask: readonly string[]): void {
  const attributes = recordTypes.flatMap((recordType) => recordType.attributes)
  const compounds = recordTypes.flatMap((recordType) => recordType.compounds ?? [])
  const rows = [...attributes, ...compounds, ...compounds.flatMap(({ members }) => members)]
  const unknown = ask.find((name) => !rows.some((row) => hasNameAmong(row, [name])))
  if (unknown !== undefined) {
    throw new GrantProblem('ask', `${unknown} is no attribute of ${recordTypes.map(({ name }) => name).join(', ')}`)
  }
  const age = attributes.find((row) => row.type === 'age' && hasNameAmong(row, ask))
  if (age?.since !== undefined && !ask.some((name) => searchKey(name) === age.since)) {
    throw new GrantProblem('ask', `${age.name} needs ${age.since} beside it`)
  }
}
