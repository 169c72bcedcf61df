/** The operator's people and programs at the admin API, and what each may do there. */

export const OPERATOR_ROLES = ['read', 'publish', 'consent', 'operate', 'audit', 'own'] as const
export type OperatorRole = (typeof OPERATOR_ROLES)[number]

/** The prefix of names from a provider of OpenID Connect. No token has a name with it. */
export const PROVIDED_NAME = 'oidc:'

/** The caller of the admin API. */
export interface Operator {
  /** The id of its token; null: it signed in at a provider of OpenID Connect. */
  readonly id: number | null
  /** Its subject and address at the provider; absent: it has a token. */
  readonly subject?: string
  readonly name: string
  readonly roles: readonly OperatorRole[]
  /** The ids of the registries it may work on; null: all. */
  readonly registries: readonly number[] | null
  /** The `ConsentAuthority.id` that its calls must name; null: it is not bound to one. */
  readonly authority: number | null
}

/**
 * The roles that each role includes. `publish` may only send events, `consent` may only withdraw consents, `own` may do
 * everything.
 */
const INCLUDES: Readonly<Record<OperatorRole, readonly OperatorRole[]>> = {
  read: [],
  publish: [],
  consent: [],
  operate: ['read', 'consent'],
  audit: ['read'],
  own: OPERATOR_ROLES,
}

/** Operators with one of these roles may decide about some of the acts that wait for a second operator. */
export const DECIDING_ROLES: ReadonlySet<OperatorRole> = new Set(['own', 'operate', 'audit'])

export const hasRole = ({ roles }: Pick<Operator, 'roles'>, wanted: OperatorRole): boolean =>
  roles.some((role) => role === wanted || INCLUDES[role].includes(wanted))

/** @param registry null: the call is about no single registry, so only operators of all registries may do it */
export const mayUseRegistry = (
  { registries }: Pick<Operator, 'registries'>,
  registry: { readonly id: number } | null,
): boolean => registries === null || (registry !== null && registries.includes(registry.id))
