/** Registries in statements of other packages: the table is named here alone. */

/** SQL of a relation to join: each registry with its names and its purpose. */
export const REGISTRIES = '(select id, namespace, environment, demo from registry)'

/** The same with the columns that databases of all versions have, for what is asked before they are migrated. */
export const REGISTRIES_OF_ANY_VERSION = '(select namespace, demo from registry)'

/**
 * SQL of the id of the registry at a namespace; null: there is none.
 * @param namespace SQL: a parameter, or a column with the name of its table
 */
export const registryNamed = (namespace: string): string =>
  `(select named.id from registry as named where named.namespace = ${namespace})`

/**
 * SQL of the namespace of a registry; null: it is not there any more.
 * @param id SQL: a parameter, or a column with the name of its table
 */
export const namespaceOf = (id: string): string =>
  `(select named.namespace from registry as named where named.id = ${id})`

/** SQL of a relation to join: the source file of each registry whose records are copies. */
export const MIRRORED_REGISTRIES =
  '(select id, source::jsonb as source from registry where own_records and source is not null)'
