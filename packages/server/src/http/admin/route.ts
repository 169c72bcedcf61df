/** The type of a row in the table of the admin API, which describes a call. */

import type { BaseActDeps } from '@rollcall/admin/act'
import type { AdminFunction, InputWithUndefined } from '@rollcall/admin/admin-function'
import type { HasVerification } from '@rollcall/admin/audit/verification'
import type { HasMessageSigning } from '@rollcall/admin/callbacks/callbacks'
import type { HasDeliveryChangeLimit } from '@rollcall/admin/deliveries/changes'
import type { HasEventRecording, HasVault } from '@rollcall/admin/deps'
import type { HasJudgedConfig } from '@rollcall/admin/doctor/findings'
import type { HasDatabaseHealth } from '@rollcall/admin/overview'
import type { HasDayLimits } from '@rollcall/admin/participants/show'
import type { HasPartnerPage } from '@rollcall/admin/partner/link'
import type { RetentionDeps } from '@rollcall/admin/persons/retention'
import type { HasIndexBuilder } from '@rollcall/admin/registries/index-build'
import type { HasSamples } from '@rollcall/admin/registries/samples'
import type { HasSettings } from '@rollcall/admin/settings'
import type { HasTrialSearch } from '@rollcall/admin/try/try'
import type { Limits } from '@rollcall/core/limits'
import type { OperatorRole } from '@rollcall/core/model/operator'
import type { PageAudience } from '@rollcall/participants/store/sessions'
import type { Deprecation } from '@rollcall/protocol'
import type { Static, TSchema } from 'typebox'
import type { RouteMethod } from '../server.ts'
import type { HeavyCall } from './call-slots.ts'

/** The beginning of the path of every call of the admin API. */
export const ADMIN_BASE = '/admin/v1'

/** The dependencies of the admin functions. */
export type AdminDeps = HasVault &
  HasEventRecording &
  HasDeliveryChangeLimit &
  HasVerification &
  HasIndexBuilder &
  HasMessageSigning &
  HasDayLimits &
  HasDatabaseHealth &
  HasSamples &
  HasSettings &
  HasJudgedConfig &
  HasTrialSearch &
  BaseActDeps &
  HasPartnerPage &
  RetentionDeps & { readonly limits: Pick<Limits, 'session_idle' | 'searched_entries'> }

export interface AdminRoute {
  /** The kind of callers: operators or participants. A listener mounts only the routes of its own audience. */
  readonly audience: PageAudience
  readonly method: RouteMethod
  /** The path after ADMIN_BASE. `{name}` is a member of the input. If no registry is at `{namespace}`, the call is refused. */
  readonly path: string
  /** The name of the call in logs, metrics and the OpenAPI document. */
  readonly name: string
  readonly summary: string
  /** The role that the caller needs. */
  readonly role: OperatorRole
  readonly input: TSchema
  readonly result: TSchema
  /** Members of the admin function's input that a caller of this API cannot set, such as those that show personal data. */
  readonly hidden: readonly string[]
  /** The kind of a heavy call: a node runs few of the same kind at a time. Undefined for other calls. */
  readonly heavy: HeavyCall | undefined
  /** The HTTP status of a successful answer. */
  readonly status: 200 | 201
  /** Set when the call is deprecated: the day from which it is deprecated, and the day from which it may be gone. */
  readonly deprecated: Deprecation | undefined
  /** The name of the act, if it may wait for a second operator; otherwise undefined. */
  readonly approval: string | undefined
  /** Runs the admin function. @throws AdminRefusal, ActWaitsError */
  readonly call: (deps: AdminDeps, input: unknown) => Promise<unknown>
}

/** The parts from which the OpenAPI description of a call is made. */
export type DescribedCall = Omit<AdminRoute, 'role' | 'call' | 'approval' | 'heavy'>

type AdminRouteSettings = Pick<AdminRoute, 'name' | 'summary' | 'role'> &
  Partial<Pick<AdminRoute, 'hidden' | 'heavy' | 'status' | 'deprecated'>>

/** Makes a row of the table of the admin API. */
export function adminRoute<Input extends TSchema, Result extends TSchema>(
  method: RouteMethod,
  path: string,
  adminFunction: AdminFunction<AdminDeps, Input, Result>,
  row: AdminRouteSettings,
): AdminRoute {
  const { input, result, act } = adminFunction
  const approval = act === null || act.approval === 'never' ? undefined : act.name
  // The input is not checked yet; the admin function checks it.
  const call = (deps: AdminDeps, given: unknown) => adminFunction(deps, given as InputWithUndefined<Static<Input>>)
  const usual = { audience: 'operator', hidden: [], heavy: undefined, status: 200, deprecated: undefined } as const
  return { ...usual, ...row, method, path, input, result, approval, call }
}

/** The names of the input's members in the path. */
export const pathMembers = ({ path }: Pick<AdminRoute, 'path'>): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** The members of the input that are neither in the path nor hidden, with their schemas. */
export function queryOrBodyMembers(route: Pick<AdminRoute, 'path' | 'input' | 'hidden'>): Record<string, TSchema> {
  const elsewhere = [...pathMembers(route), ...route.hidden]
  const { properties = {} } = route.input as { properties?: Record<string, TSchema> }
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !elsewhere.includes(name)))
}
