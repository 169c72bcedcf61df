/**
 * Acts: admin functions that change something, or that show what belongs to persons. Each has a caller, an entry in the
 * accounts of access, and a word on whether it waits for a second operator. A function without these is `useCase`: it asks
 * for what names no person, and changes nothing.
 */
import type { Accounts } from '@rollcall/core/model/account'
import type { ReadOnly } from '@rollcall/core/model/read-only'
import type { Static, TSchema } from 'typebox'
import { accountAct, type EntryDetails } from './accounts/operator-looks.ts'
import { type ActFacts, type Caller, mayDo } from './caller.ts'
import { AdminRefusal, type Given, type UseCase, useCase } from './use-case.ts'

/** What every act is given beside what it works with. */
export interface Acting {
  readonly caller: Caller
  /** The entry is written here before anything is changed or shown. */
  readonly accounts: Accounts
  readonly approvals: Approvals
}

/** Whether acts wait for a second operator. */
export interface Approvals {
  /** Whether some acts need two operators (ROLLCALL_TWO_PERSON). */
  readonly areNeeded: boolean
  /** @throws Proposed the act was not done: it waits for a second operator */
  check(needs: Acting, act: string, input: unknown): Promise<void>
}

/** Every act is done at once. */
export const ONE_OPERATOR: Approvals = { areNeeded: false, check: async () => undefined }

interface ActTerms<Input extends TSchema, Result extends TSchema> extends ActFacts {
  /**
   * When the entry is written. `first`: before the work begins. `within`: by the work itself, which knows the persons or the
   * registry, before it changes or shows anything.
   */
  readonly entry?: 'first' | 'within'
  readonly input: Input
  readonly result: Result
}

/** Writes the entry of an act. Null: this call changes nothing and shows nobody, so it has none. */
export type Enter = (details?: Partial<EntryDetails> | null) => Promise<void>

/**
 * Makes an act of its terms and its work.
 * @throws AdminRefusal also where the caller may not do it
 */
export function act<Needs, Input extends TSchema, Result extends TSchema>(
  { name, approval, entry = 'first', input, result }: ActTerms<Input, Result>,
  work: (needs: Needs & Acting, input: ReadOnly<Static<Input>>, enter: Enter) => Promise<ReadOnly<Static<Result>>>,
): UseCase<Needs & Acting, Input, Result> {
  const facts = { name, approval }
  const run = async (needs: Needs & Acting, given: ReadOnly<Static<Input>>): Promise<ReadOnly<Static<Result>>> => {
    const { caller, approvals } = needs
    if (approval !== 'never' && !isDecided(caller)) await approvals.check(needs, name, given)
    let entered = false
    const enter: Enter = async (details = {}) => {
      entered = true
      if (details !== null)
        await accountAct(needs, { note: noteOf(name, given), registry: namespaceIn(given), ...details })
    }
    if (entry === 'first') await enter(isSameLook(caller) ? null : {})
    const answer = await work(needs, given, enter)
    if (!entered) throw new Error(`the act ${name} left no entry`)
    return answer
  }
  const checked = useCase({ input, result }, run)
  const guarded: typeof run = async (needs, given) => {
    const { caller, accounts, approvals } = needs
    if (!mayDo(caller, facts)) throw mayNot(name, caller)
    if (accounts === undefined || approvals === undefined) throw mayNot(name, undefined)
    return checked(needs, given as Given<Static<Input>>)
  }
  return Object.assign(guarded as typeof checked, { input, result, act: facts })
}

/** A second operator has approved it already: itself, or the configuration file that it is a step of. */
const isDecided = ({ kind }: Caller): boolean => kind === 'proposal' || kind === 'configuration'

const isSameLook = (caller: Caller): boolean => caller.kind === 'operator' && caller.isSameLook === true

function mayNot(name: string, caller: Caller | undefined): AdminRefusal {
  const who =
    caller === undefined
      ? 'it needs a caller, accounts of access and a word on approvals'
      : `a caller of the kind ${caller.kind} may not do it`
  return new AdminRefusal(`${name}: ${who}`, { reason: 'forbidden' })
}

/** A dry run counts, and changes nothing. */
const noteOf = (name: string, input: unknown): string =>
  memberOf(input, 'dry_run') === true ? `${name} (dry run)` : name

function namespaceIn(input: unknown): string | undefined {
  const namespace = memberOf(input, 'namespace')
  return typeof namespace === 'string' ? namespace : undefined
}

const memberOf = (input: unknown, name: string): unknown =>
  typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>)[name] : undefined
