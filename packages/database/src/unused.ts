/**
 * A table, column or sequence that this version does not use, so that a migration of the next version may remove it:
 * nodes of this version, which may run beside the next one, do not need it.
 */
export interface UnusedName {
  /** The name of a table or sequence, or of a column as `table.column`. */
  readonly name: string
  /** The first schema version that does not use the table, column or sequence. */
  readonly since: string
}

export const UNUSED_TABLES_AND_COLUMNS: readonly UnusedName[] = [
  { name: 'record_version', since: '0.1.0' },
  { name: 'operator_session', since: '0.1.0' },
  { name: 'operator_sign_in_link', since: '0.1.0' },
  { name: 'partner_session', since: '0.1.0' },
  { name: 'partner_sign_in_link', since: '0.1.0' },
]
