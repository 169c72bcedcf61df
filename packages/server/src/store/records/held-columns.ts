/** What is held of each record in columns of its own. */
import type { RecordType } from '@rollcall/protocol'
import { attributeColumns, type RecordColumn } from './attribute-columns.ts'
import { compoundColumn } from './compound-columns.ts'

/** What an attribute or a compound is held in. */
export interface Held {
  /** Its name in the kind. */
  readonly name: string
  readonly columns: readonly RecordColumn[]
  /** Of its index, where one is declared. */
  readonly method: string | null
}

/** All that a record type's own columns hold: its attributes, then its compounds. */
export function heldOf({ attributes, compounds = [] }: RecordType): readonly Held[] {
  return [
    ...attributes.map((attribute) => ({
      name: attribute.name,
      columns: attributeColumns(attribute),
      method: attribute.indexed ? (attribute.many ? 'gin' : 'btree') : null,
    })),
    ...compounds.map((compound) => ({
      name: compound.name,
      columns: [compoundColumn(compound)],
      method: compound.indexed ? 'gin' : null,
    })),
  ]
}
