/** Operators: persons and programs that call the admin API, and what each may do. */

export const OPERATOR_ROLES = ['read', 'publish', 'consent', 'operate', 'audit', 'own'] as const
export type OperatorRole = (typeof OPERATOR_ROLES)[number]

/** The beginning of the names of operators who sign in at an OpenID provider. No operator token has such a name. */
export const OPENID_NAME_PREFIX = 'oidc:'

/** A caller of the admin API. */
export interface Operator {
  /** The id of the operator's token; null when the operator signed in at an OpenID provider. */
  readonly id: number | null
  /** The operator's subject and address at the OpenID provider; absent for a token. */
  readonly subject?: string
  readonly name: string
  readonly roles: readonly OperatorRole[]
  /** The ids of the registries that the operator may use; null for all. */
  readonly registries: readonly number[] | null
  /** The id of the only consent authority that the operator's calls may name; null for any. */
  readonly authority: number | null
}

/**
 * The roles that each role includes. `publish` may only publish events, and `consent` may only withdraw consents; `own`
 * may do everything.
 */
const INCLUDED_ROLES: Readonly<Record<OperatorRole, readonly OperatorRole[]>> = {
  read: [],
  publish: [],
  consent: [],
  operate: ['read', 'consent'],
  audit: ['read'],
  own: OPERATOR_ROLES,
}

/** The roles that may decide about proposals (acts that wait for a second operator): each role about some kinds of acts. */
export const PROPOSAL_DECIDING_ROLES: ReadonlySet<OperatorRole> = new Set(['own', 'operate', 'audit'])

export const hasRole = ({ roles }: Pick<Operator, 'roles'>, wanted: OperatorRole): boolean =>
  roles.some((role) => role === wanted || INCLUDED_ROLES[role].includes(wanted))

/**
 * True when the operator may use the registry. @param registry null for a call about no single registry, which only
 * operators of all registries may make
 */
export const mayUseRegistry = ({ registries }: Pick<Operator, 'registries'>, registry: { readonly id: number } | null): boolean =>
  registries === null || (registry !== null && registries.includes(registry.id))
