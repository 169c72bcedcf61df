/** The identifier form of a query: type and value, in every documented spelling (spec "Query forms" 2, 3.1, D21). */

import type { Predicate } from '../../model/predicate.ts'
import { QueryProblem } from '../problem.ts'
import type { Member } from './forms.ts'
import { readIdentifiers, readIdentifierType } from './leaves.ts'
import { resolveOperator } from './operators.ts'
import type { Reader } from './reader.ts'

/**
 * Bears this identifier.
 * @throws QueryProblem
 */
export function readIdentifierQuery(reader: Reader, type: Member, value: Member): Predicate {
  const known = readIdentifierType(reader.kind, type.value, type.path)
  reader.term(value.path)
  return { is: 'identifier', identifiers: readIdentifiers([known], value) }
}

/** { field, operator, value }, where the field is an identifier type: an older spelling that knows equality alone. */
export function readFieldQuery(reader: Reader, field: Member, operator: Member, value: Member): Predicate {
  const known = typeof operator.value === 'string' ? resolveOperator(operator.value) : undefined
  if (known?.name !== 'eq') throw new QueryProblem(operator.path, 'must be eq')
  return readIdentifierQuery(reader, field, value)
}
