/**
 * The errors of calls that the console and the partner page make: refusals, failures, and acts that wait for a second operator.
 */

export interface ErrorLine {
  readonly code: string
  readonly message: string
}

/** An error for a call that failed. The pages show the server's messages unchanged. */
export class ApiFault extends Error {
  /** The HTTP status of the answer; 0: no answer came. */
  readonly status: number
  readonly errors: readonly ErrorLine[]

  constructor(status: number, errors: readonly ErrorLine[]) {
    super(errors.map(({ message }) => message).join('\n'))
    this.name = 'ApiFault'
    this.status = status
    this.errors = errors
  }

  /** True if the same call may succeed later. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

/** Makes the fault for a server that was not reached, or whose answer did not come. */
export const noAnswerFault = (): ApiFault => new ApiFault(0, [{ code: 'network', message: 'The server does not answer.' }])

/** Thrown when an act was not done, because it waits for a second operator. */
export class ActProposed extends Error {
  readonly id: string

  constructor(id: string) {
    super(id)
    this.name = 'Proposed'
    this.id = id
  }
}

/** Reads the errors in an answer's body. A body without errors, such as that of a proxy, gives one error with the HTTP status. */
export function readErrors(status: number, body: unknown): readonly ErrorLine[] {
  const { errors } = (typeof body === 'object' && body !== null ? body : {}) as { errors?: unknown }
  const lines = Array.isArray(errors) ? errors.filter(isErrorLine) : []
  return lines.length > 0 ? lines : [{ code: String(status), message: `HTTP ${status}` }]
}

const isErrorLine = (value: unknown): value is ErrorLine =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as ErrorLine).code === 'string' &&
  typeof (value as ErrorLine).message === 'string'

/** Reads the id of the proposal from the body of a 202 answer; null: there is none. */
export function readProposalId(body: unknown): string | null {
  const { proposal } = (typeof body === 'object' && body !== null ? body : {}) as { proposal?: { id?: unknown } }
  return proposal?.id === undefined ? null : String(proposal.id)
}
