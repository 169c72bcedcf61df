/** Sends the rows of a file to a beneficiary registry, in messages of several rows, one after the other. */
import type { EnrolmentUpdate } from '@rollcall/client'
import type { JsonObject } from '@rollcall/protocol'

/** A row of a file. `line` is the number of its line. `end` is the number of bytes from the file's start to the row's end. */
export type EnrolmentRow = { readonly line: number; readonly end: number } & (
  | { readonly document: JsonObject }
  | { readonly problem: string }
)

export interface RowRejection {
  readonly line: number
  readonly reason: string
}

/** Counts of the rows of a file so far: from the first row to the last row of the message that was sent last. */
export interface EnrolledRowCounts {
  readonly lines: number
  readonly taken: number
  readonly rejected: number
  /** Bytes of the file up to the end of the last counted row. */
  readonly bytes: number
}

/** The counts of rows before the first message is sent; every count is 0. */
export const NO_ROWS_ENROLLED: EnrolledRowCounts = { lines: 0, taken: 0, rejected: 0, bytes: 0 }

/** The most beneficiaries of one message, and the most characters of their JSON together. A longer row is sent alone. */
export const MESSAGE_LIMITS = { beneficiaries: 100, size: 2_000_000 } as const

export interface EnrolRowsDeps {
  readonly send: (beneficiaries: readonly JsonObject[]) => Promise<readonly EnrolmentUpdate[]>
  readonly reject: (rejects: readonly RowRejection[]) => Promise<void>
}

/**
 * Sends all readable rows, and yields the counts so far after each message. Unreadable rows, and rows that the registry refuses,
 * go to `reject`. When the caller stops its loop over the counts, no more is sent.
 */
export async function* enrolRows(
  rows: AsyncIterable<EnrolmentRow>,
  { send, reject }: EnrolRowsDeps,
): AsyncGenerator<EnrolledRowCounts> {
  let state = NO_ROWS_ENROLLED
  for await (const batch of splitIntoMessages(rows)) {
    const read = batch.flatMap((row) => ('document' in row ? [row] : []))
    const updates = read.length === 0 ? [] : await send(read.map(({ document }) => document))
    const refused = new Map(read.map(({ line }, at) => [line, updates[at]]))
    const rejects = batch.flatMap((row): RowRejection[] => {
      if ('problem' in row) return [{ line: row.line, reason: row.problem }]
      const update = refused.get(row.line)
      return update?.ok === true ? [] : [{ line: row.line, reason: update?.message ?? NO_REASON_TEXT }]
    })
    await reject(rejects)
    state = {
      lines: state.lines + batch.length,
      taken: state.taken + batch.length - rejects.length,
      rejected: state.rejected + rejects.length,
      bytes: batch.at(-1)?.end ?? state.bytes,
    }
    yield state
  }
}

const NO_REASON_TEXT = 'the registry rejected it without a reason'

async function* splitIntoMessages(rows: AsyncIterable<EnrolmentRow>): AsyncGenerator<readonly EnrolmentRow[]> {
  let batch: EnrolmentRow[] = []
  let size = 0
  for await (const row of rows) {
    const length = 'document' in row ? JSON.stringify(row.document).length : 0
    if (batch.length === MESSAGE_LIMITS.beneficiaries || (batch.length > 0 && size + length > MESSAGE_LIMITS.size)) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(row)
    size += length
  }
  if (batch.length > 0) yield batch
}
