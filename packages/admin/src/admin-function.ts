/** Admin functions with schemas, for the command line, the admin API and the console. */

import type { ReadOnly } from '@rollcall/core/model/read-only'
import { RecordsUnavailable, SearchTimeout } from '@rollcall/core/model/record-source'
import { GrantProblem } from '@rollcall/core/policy/grant-problem'
import { StoreRefusal, StoreUnavailable } from '@rollcall/database/refusal'
import { ImportError } from '@rollcall/import/source'
import { AddressRefused, addressAdvice, RequestFailed } from '@rollcall/participants/egress/problems'
import { KeyRefused, type PathStep, type Problem, pathText, validator } from '@rollcall/protocol'
import type { Static, TSchema } from 'typebox'
import type { ActFacts } from './caller.ts'

/**
 * Why an admin function refuses: the input is not valid, names something unknown, or conflicts with stored data; this
 * caller may not call it; or something that the function needs does not work now.
 */
export type RefusalReason = 'invalid' | 'not_found' | 'conflict' | 'forbidden' | 'unavailable'

/**
 * Thrown when an admin function refuses a call. The message is for the operator who called: it says what is wrong,
 * such as a member of the input and its rule, and has no personal data.
 */
export class AdminRefusal extends Error {
  override readonly name = 'AdminRefusal'
  readonly reason: RefusalReason
  readonly #at: readonly PathStep[]
  readonly #hint: string

  constructor(
    message: string,
    {
      reason = 'invalid',
      at = [],
      hint = '',
      ...options
    }: ErrorOptions & { readonly reason?: RefusalReason; readonly at?: readonly PathStep[]; readonly hint?: string } = {},
  ) {
    super(message, options)
    this.reason = reason
    this.#at = at
    this.#hint = hint
  }

  /** Text after the message that names a participant or registry. Only callers who see all participants and registries get it. */
  get hint(): string {
    return this.#hint
  }

  /** The path of the refused member of the input, by which a command can show its line in a file; empty: no single member. */
  get at(): readonly PathStep[] {
    return this.#at
  }
}

/**
 * An admin function. `deps` is what it works with, such as `{ db }`; `input` is checked against its schema; the result
 * is plain JSON.
 * @throws AdminRefusal
 */
export interface AdminFunction<Deps, Input extends TSchema, Result extends TSchema> {
  (deps: Deps, input: InputWithUndefined<Static<Input>>): Promise<ReadOnly<Static<Result>>>
  /** The schema of the input. OpenAPI documents and commands are made from it. */
  readonly input: Input
  readonly result: Result
  /** The facts by which `canDoAct` decides who may call; null: the function is no act. */
  readonly act: ActFacts | null
}

interface CallSchemas<Input extends TSchema, Result extends TSchema> {
  readonly input: Input
  readonly result: Result
}

/** Makes an admin function of its schemas and its work. Work that changes something, or names a person, belongs in an act. */
export function defineAdminFunction<Deps, Input extends TSchema, Result extends TSchema>(
  { input: schema, result }: CallSchemas<Input, Result>,
  work: (deps: Deps, input: ReadOnly<Static<Input>>) => Promise<ReadOnly<Static<Result>>>,
): AdminFunction<Deps, Input, Result> {
  // The schema is compiled at the first call: a command loads several admin functions and calls one.
  let compiled: ReturnType<typeof validator> | undefined
  const run = async (deps: Deps, given: InputWithUndefined<Static<Input>>): Promise<ReadOnly<Static<Result>>> => {
    compiled ??= validator(schema)
    const input = withoutUndefined(given)
    const problem = compiled.firstProblem(input)
    if (problem !== null) throw inputProblemRefusal(problem)
    try {
      return await work(deps, input as ReadOnly<Static<Input>>)
    } catch (error) {
      throw toAdminRefusal(error)
    }
  }
  return Object.assign(run, { input: schema, result, act: null })
}

/** Errors of the packages that this package uses. Their messages are written for the operator. */
const REFUSAL_TYPES = [StoreRefusal, KeyRefused, RequestFailed, ImportError, GrantProblem]

const inputProblemRefusal = ({ at, rule }: Problem): AdminRefusal =>
  new AdminRefusal(at.length === 0 ? rule : `${pathText(at)}: ${rule}`, { at })

/** Turns a refusal of another package into an AdminRefusal; any other error is returned as it is. */
export function toAdminRefusal(error: unknown): unknown {
  if (error instanceof AddressRefused) return new AdminRefusal(addressAdvice(error), { cause: error })
  if (error instanceof RecordsUnavailable) {
    const message = 'the database of the registry does not answer; try again later'
    return new AdminRefusal(message, { reason: 'unavailable', cause: error })
  }
  if (error instanceof SearchTimeout) {
    const time = error.seconds === undefined ? 'too long' : `longer than ${error.seconds} seconds`
    const message = `reading the records of the registry took ${time}`
    return new AdminRefusal(message, { reason: 'unavailable', cause: error })
  }
  const isForOperator = REFUSAL_TYPES.some((refusal) => error instanceof refusal)
  if (!isForOperator || !(error instanceof Error)) return error
  const reason = error instanceof StoreUnavailable ? 'unavailable' : 'invalid'
  return new AdminRefusal(error.message, { reason, cause: error })
}

/** Removes members that are undefined: they count as not given. */
function withoutUndefined(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** The type of an input as a caller gives it: optional members may also be undefined. */
export type InputWithUndefined<Value> = Value extends object
  ? {
      readonly [Name in keyof Value]: object extends Pick<Value, Name> ? ReadOnly<Value[Name]> | undefined : ReadOnly<Value[Name]>
    }
  : Value
