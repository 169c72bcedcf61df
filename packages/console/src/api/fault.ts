/** Refusals and failures of the admin API. */

export interface ErrorLine {
  readonly code: string
  readonly message: string
}

/** A failed call. Its message is shown unchanged. */
export class ApiFault extends Error {
  /** HTTP status; 0 without an answer. */
  readonly status: number
  readonly errors: readonly ErrorLine[]

  constructor(status: number, errors: readonly ErrorLine[]) {
    super(errors.map(({ message }) => message).join('\n'))
    this.name = 'ApiFault'
    this.status = status
    this.errors = errors
  }

  /** The same call may succeed later. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

/** The server was not reached, or its answer did not come. */
export const noAnswer = (): ApiFault => new ApiFault(0, [{ code: 'network', message: 'The server does not answer.' }])

/** The act was not done: it waits for a second operator. */
export class Proposed extends Error {
  readonly id: string

  constructor(id: string) {
    super(id)
    this.name = 'Proposed'
    this.id = id
  }
}

/** The errors of an answer's body, which may come from something in between as well. */
export function errorsOf(status: number, body: unknown): readonly ErrorLine[] {
  const { errors } = (typeof body === 'object' && body !== null ? body : {}) as { errors?: unknown }
  const lines = Array.isArray(errors) ? errors.filter(isErrorLine) : []
  return lines.length > 0 ? lines : [{ code: String(status), message: `HTTP ${status}` }]
}

const isErrorLine = (value: unknown): value is ErrorLine =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as ErrorLine).code === 'string' &&
  typeof (value as ErrorLine).message === 'string'

/** The id of the proposal that a 202 answers with. */
export function proposalOf(body: unknown): string | null {
  const { proposal } = (typeof body === 'object' && body !== null ? body : {}) as { proposal?: { id?: unknown } }
  return proposal?.id === undefined ? null : String(proposal.id)
}
