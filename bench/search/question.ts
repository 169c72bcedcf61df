/** The search that both servers are asked: one person by the identifier that names records of the kind. */
import { randomUUID } from 'node:crypto'
import { kindNamed, PROTOCOL_VERSION } from '@rollcall/protocol'

export const KIND = 'civil'
export const NAMESPACE = 'bench-civil'
export const REGISTRY_SENDER = 'registry.bench.example'
export const ASKER_SENDER = 'asker.bench.example'

const kind = kindNamed(KIND)
if (kind === undefined) throw new Error(`there is no kind ${KIND}`)

export const RECORD_TYPE = kind.record_types[0]
export const IDENTIFIER_TYPE = RECORD_TYPE.primary_identifier
export const REG_TYPE = `ns:org:RegistryType:${kind.reg_type.name}`

export const TRANSACTION_ID = '5f0f9c1e-transaction'
export const REFERENCE_ID = '5f0f9c1e-reference'

/** The participant that asks, and the address for answers that are sent later. */
export interface Asker {
  readonly sender_id: string
  readonly sender_uri?: string
}

const MARKS = { id: 'the id', transaction: 'the transaction', value: 'the value' }

const run = randomUUID()
let sent = 0

/**
 * Makes bodies of searches for an identifier: usual messages with the documented members, no tolerated spellings, no
 * signature. Each is a message of its own, with an id of its own.
 */
export function questionsOf(asker: Asker): (identifier: string, transaction_id: string) => string {
  const [start = '', first = '', second = '', end = ''] = JSON.stringify(template(asker)).split(
    new RegExp(`"(?:${Object.values(MARKS).join('|')})"`),
  )
  return (identifier, transaction_id) => {
    sent += 1
    const transaction = JSON.stringify(transaction_id)
    return `${start}"${run}-${sent}"${first}${transaction}${second}${JSON.stringify(identifier)}${end}`
  }
}

const template = ({ sender_id, sender_uri }: Asker): object => ({
  header: {
    version: PROTOCOL_VERSION,
    message_id: MARKS.id,
    message_ts: '2026-02-03T09:15:00.000Z',
    action: 'search',
    sender_id,
    ...(sender_uri !== undefined && { sender_uri }),
    receiver_id: REGISTRY_SENDER,
    total_count: 1,
    is_msg_encrypted: false,
    meta: {},
  },
  message: {
    transaction_id: MARKS.transaction,
    search_request: [
      {
        reference_id: REFERENCE_ID,
        timestamp: '2026-02-03T09:15:00.000Z',
        search_criteria: {
          version: PROTOCOL_VERSION,
          reg_type: REG_TYPE,
          reg_record_type: RECORD_TYPE.emitted,
          query_type: 'idtype-value',
          query: { type: IDENTIFIER_TYPE, value: MARKS.value },
          pagination: { page_size: 10, page_number: 1 },
        },
        locale: 'eng',
      },
    ],
  },
})

const ask = questionsOf({ sender_id: ASKER_SENDER })

/** The body of a search for this identifier, of the one who asks. */
export const question = (identifier: string): string => ask(identifier, TRANSACTION_ID)
