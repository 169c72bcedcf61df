/** A kind with an attribute of every type, a list and a compound, for tests of the readers of queries. */

import type { Literal, Predicate } from '@rollcall/core/model/predicate'
import { type Attribute, KINDS, type Kind, type RecordType } from '@rollcall/protocol'
import type { QueryLimits, QueryScope } from '../src/query/query.ts'

export const ATTRIBUTES = {
  text: { name: 'surname', aliases: ['last_name'], paths: ['name.surname'], type: 'text', fold: true, indexed: true },
  code: { name: 'sex', aliases: ['gender'], paths: ['sex'], type: 'code', codes: 'sex' },
  date: { name: 'birth_date', paths: ['birth_date'], type: 'date', sortable: true },
  datetime: { name: 'last_updated', paths: ['last_updated'], type: 'datetime', sortable: true },
  number: { name: 'score', aliases: ['points'], paths: ['score'], type: 'number', sortable: true },
  boolean: { name: 'is_disabled', paths: ['is_disabled'], type: 'boolean' },
  age: { name: 'age', paths: [], type: 'age', since: 'birth_date', sortable: true },
  many: { name: 'farm_size', paths: ['farm_size'], type: 'number', many: true },
} as const satisfies Record<string, Attribute>

const PERSON: RecordType = {
  name: 'Person',
  emitted: 'Person',
  aliases: ['Member'],
  document_types: ['Person'],
  primary_identifier: 'UIN',
  identifiers: [{ path: 'identifier', names: 'record' }],
  keyed_lists: [],
  event_rules: [],
  attributes: [...Object.values(ATTRIBUTES)],
  compounds: [
    {
      name: 'enrolment',
      paths: ['programmes'],
      members: [
        { name: 'programme', paths: ['id'], type: 'text' },
        { name: 'status', paths: ['status'], type: 'code', codes: 'ess_enrolment_status' },
        { name: 'since', paths: ['since'], type: 'date' },
      ],
    },
  ],
  schema: {},
}
const GROUP: RecordType = { ...PERSON, name: 'Group', emitted: 'Group', aliases: ['Household'], compounds: [] }

export const KIND: Kind = {
  ...(KINDS[0] as Kind),
  record_types: [PERSON, GROUP],
  identifier_types: [
    { name: 'UIN', normaliser: 'code' },
    { name: 'BRN', aliases: ['BIRTH_REG_NO'], normaliser: 'code' },
    { name: 'MOBILE', aliases: ['phone_number'], normaliser: 'phone' },
  ],
}

export const LIMITS: QueryLimits = { query_depth: 20, query_terms: 200, query_values: 1_000 }
export const SCOPE: QueryScope = { kind: KIND, recordType: undefined, limits: LIMITS }

/** Writes a predicate as one line, such as `and(score eq 1, not(some enrolment(programme eq "P1")))`. */
export function shown(predicate: Predicate): string {
  switch (predicate.is) {
    case 'and':
    case 'or':
      return `${predicate.is}(${predicate.of.map(shown).join(', ')})`
    case 'not':
      return `not(${shown(predicate.of)})`
    case 'compare':
      return `${predicate.attribute.name} ${predicate.operator} ${shownLiteral(predicate.value)}`
    case 'in':
      return `${predicate.attribute.name} in [${predicate.values.map(shownLiteral).join(', ')}]`
    case 'exists':
      return `${predicate.list === undefined ? '' : `${predicate.list.name}:`}${predicate.attribute.name} exists`
    case 'some':
      return `some ${predicate.list.name}(${shown(predicate.of)})`
    case 'identifier':
      return `bears ${predicate.identifiers.map(({ type, value }) => `${type} ${value}`).join(' or ')}`
    case 'identifier_type':
      return `bears a ${predicate.types.join(' or ')}`
  }
}

function shownLiteral(literal: Literal): string {
  if (typeof literal !== 'object') return JSON.stringify(literal)
  return literal.from === literal.to ? literal.from : `${literal.from}..${literal.to}`
}
