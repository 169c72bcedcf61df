/** Stores the answers to enrolment updates, for later status questions. */

import type { Database } from '@rollcall/database/database'
import type { ClientBase } from 'pg'

/** The binding of an encrypted receipt: its ciphertext can be decrypted in its own row only. */
export const receiptBodyBinding = (correlation_id: string): string => `enrolment receipt ${correlation_id}`

/** The stored answer to an enrolment update. */
export interface Receipt {
  readonly correlation_id: string
  /** True when the request was encrypted. */
  readonly encrypted: boolean
  /** The answer, encrypted for `receiptBodyBinding`. */
  readonly body: Buffer
}

/** Stores a receipt in place of an earlier one, because a repeated update is answered anew. */
export async function storeReceipt(client: ClientBase, { correlation_id, encrypted, body }: Receipt): Promise<void> {
  await client.query(
    `insert into enrolment_receipt (correlation_id, encrypted, body) values ($1, $2, $3)
     on conflict (correlation_id) do update set encrypted = excluded.encrypted, body = excluded.body`,
    [correlation_id, encrypted, body],
  )
}

/** Finds the receipt of an enrolment update; null when there is none. */
export async function findReceipt({ pool }: Pick<Database, 'pool'>, correlation_id: string): Promise<Receipt | null> {
  const { rows } = await pool.query<Receipt>({
    name: 'find enrolment receipt',
    text: 'select correlation_id, encrypted, body from enrolment_receipt where correlation_id = $1',
    values: [correlation_id],
  })
  return rows[0] ?? null
}
