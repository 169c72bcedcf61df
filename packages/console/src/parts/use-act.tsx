/** Makes acts: calls that change something. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ActProposed } from '../api/fault.ts'
import { COMMON } from '../texts/common.ts'
import { useNotify } from './notices.tsx'
import { FaultLines } from './states.tsx'

interface ActOptions<Input, Output> {
  readonly call: (input: Input) => Promise<Output>
  /** The cached answers that the act changes: the first members of their query keys. */
  readonly changes: readonly string[]
  /** The text of the notice after success. */
  readonly done?: (output: Output) => ReactNode
  readonly onDone?: (output: Output) => void
  /** Called when the act is done, or waits for a second operator. */
  readonly onOver?: () => void
}

/** Makes an act that ends with a notice: the fault, that the act waits for a second operator, or the text of `done` if given. */
export function useAct<Input, Output>({ call, changes, done, onDone, onOver }: ActOptions<Input, Output>) {
  const notify = useNotify()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: call,
    // The answer may have personal data or a secret: it is removed with the page.
    gcTime: 0,
    onSuccess: async (output) => {
      onDone?.(output)
      onOver?.()
      // `onDone` may have opened another page: then the notice is shown on that page.
      if (done !== undefined) notify(done(output))
      await Promise.all(changes.map((first) => queries.invalidateQueries({ queryKey: [first] })))
    },
    onError: (error) => {
      if (error instanceof ActProposed) {
        notify(<ProposalNotice id={error.id} />, 'info')
        onOver?.()
        void queries.invalidateQueries({ queryKey: ['proposals'] })
        return
      }
      notify(<ActFault error={error} />, 'bad')
      // A part of the act may be done, or all of it when its answer was lost.
      for (const first of changes) void queries.invalidateQueries({ queryKey: [first] })
    },
  })
}

const ProposalNotice = ({ id }: { readonly id: string }) => (
  <>
    {COMMON.proposed} <a href={`#/approvals/${encodeURIComponent(id)}`}>{COMMON.toProposal}</a>
  </>
)

const ActFault = ({ error }: { readonly error: Error }) => (
  <>
    <strong>{COMMON.notDone}</strong>
    <FaultLines error={error} />
  </>
)
