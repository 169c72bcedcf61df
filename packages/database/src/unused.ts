/**
 * Something that a version no longer uses, so that a migration of a later version may remove it: nodes of the version
 * before that one, which run beside it, do not use it either.
 */
export interface Unused {
  /** A table, a sequence, or a column as `table.column`. */
  readonly name: string
  /** The first schema version that does not use it. */
  readonly since: string
}

export const UNUSED: readonly Unused[] = [
  { name: 'record_version', since: '0.1.0' },
  { name: 'operator_session', since: '0.1.0' },
  { name: 'operator_sign_in_link', since: '0.1.0' },
  { name: 'partner_session', since: '0.1.0' },
  { name: 'partner_sign_in_link', since: '0.1.0' },
]
