/** An act that may wait for a second operator: the admin function that does it, and when it waits. */
import type { OperatorRole } from '@rollcall/core/model/operator'
import type { ReadOnly } from '@rollcall/core/model/read-only'
import type { Static, TSchema } from 'typebox'
import type { Acting } from '../act.ts'
import type { HasRecording } from '../needs.ts'
import type { RetentionNeeds } from '../persons/retention.ts'
import type { UseCase } from '../use-case.ts'
import type { DiffLine } from './diff-lines.ts'

/** What every act of the table works with. */
export type ActNeeds = RetentionNeeds & HasRecording & Acting

/** Gives what would change; null when the act needs no second operator. */
type When<Input> = (needs: ActNeeds, input: Input) => Promise<readonly DiffLine[] | null>

interface ActTerms<Input> {
  readonly role: OperatorRole
  /**
   * Members of the input that may be personal data. They are no lines of the diff, which every operator may read; those who
   * may decide see them decrypted.
   */
  readonly confidential?: readonly (keyof Input & string)[]
  readonly when: When<Input>
}

export interface ApprovalAct {
  readonly name: string
  readonly role: OperatorRole
  readonly confidential: readonly string[]
  readonly when: When<unknown>
  readonly run: (needs: ActNeeds, input: unknown) => Promise<unknown>
}

/** The row of an admin function in the table of acts. @throws Error for a function that has no name of an act  */
export function act<Input extends TSchema, Result extends TSchema>(
  useCase: UseCase<ActNeeds, Input, Result>,
  { role, confidential = [], when }: ActTerms<ReadOnly<Static<Input>>>,
): ApprovalAct {
  const { act: facts } = useCase
  if (facts === null || facts.approval === 'never') throw new Error('only an act that may wait has a row')
  type Known = ReadOnly<Static<Input>>
  const isConfidential = (at: string): boolean => confidential.some((name) => name === at)
  return {
    name: facts.name,
    role,
    confidential,
    // The use case checks its input. Every operator who may read proposals sees the lines.
    when: async (needs, input) => (await when(needs, input as Known))?.filter(({ at }) => !isConfidential(at)) ?? null,
    run: (needs, input) => useCase(needs, input as Parameters<typeof useCase>[1]),
  }
}
