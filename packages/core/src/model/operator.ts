/** The operator's own people and programs at the admin API, and what each may do there. */

export const OPERATOR_ROLES = ['read', 'publish', 'consent', 'operate', 'audit', 'own'] as const
export type OperatorRole = (typeof OPERATOR_ROLES)[number]

/** Before the names that a provider of OpenID Connect gives: no token has such a name. */
export const PROVIDED_NAME = 'oidc:'

/** Who calls the admin API. */
export interface Operator {
  /** Of its token; null: it has none, a provider of OpenID Connect says who it is. */
  readonly id: number | null
  /** Who it is at its provider, with the provider's address; absent: it has a token. */
  readonly subject?: string
  readonly name: string
  readonly roles: readonly OperatorRole[]
  /** `Registry.id`s; null: all. */
  readonly registries: readonly number[] | null
  /** `ConsentAuthority.id` of the one that its calls must name; null: of no single one. */
  readonly authority: number | null
}

/** Which roles each role has beside its own name. `publish` may only send events, `consent` only withdraw consents; `own` may everything. */
const INCLUDES: Readonly<Record<OperatorRole, readonly OperatorRole[]>> = {
  read: [],
  publish: [],
  consent: [],
  operate: ['read', 'consent'],
  audit: ['read'],
  own: OPERATOR_ROLES,
}

/** Whoever has one of these roles may decide about some of the acts that wait for a second operator. */
export const DECIDING_ROLES: ReadonlySet<OperatorRole> = new Set(['own', 'operate', 'audit'])

export const hasRole = ({ roles }: Pick<Operator, 'roles'>, wanted: OperatorRole): boolean =>
  roles.some((role) => role === wanted || INCLUDES[role].includes(wanted))

/** @param registry null: what is asked for is of no single registry, so it is for operators of all alone */
export const isFor = (
  { registries }: Pick<Operator, 'registries'>,
  registry: { readonly id: number } | null,
): boolean => registries === null || (registry !== null && registries.includes(registry.id))
