/** SQL about registries for statements of other packages, so that other packages do not name the table. */

/** SQL of a relation to join: each registry with its id, namespace, environment and demo flag. */
export const REGISTRIES_SQL = '(select id, namespace, environment, demo from registry)'

/**
 * SQL of a relation to join: each registry with columns that the table has had in every version, for queries before a database is
 * migrated.
 */
export const REGISTRIES_OF_ANY_VERSION_SQL = '(select namespace, demo from registry)'

/**
 * SQL that gives the id of the registry at a namespace; null when there is none.
 * @param namespace SQL: a parameter, or a column with the name of its table
 */
export const registryIdSql = (namespace: string): string =>
  `(select named.id from registry as named where named.namespace = ${namespace})`

/**
 * SQL that gives the namespace of a registry; null when the registry does not exist any more.
 * @param id SQL: a parameter, or a column with the name of its table
 */
export const namespaceSql = (id: string): string => `(select named.namespace from registry as named where named.id = ${id})`

/** SQL of a relation to join: the source of each registry whose records are copies. */
export const MIRRORED_REGISTRIES_SQL =
  '(select id, source::jsonb as source from registry where own_records and source is not null)'
