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

const [ID_MARK, VALUE_MARK] = ['the id', 'the value']

/** A usual message: the documented members, no tolerated spellings, no signature. */
const [start = '', middle = '', end = ''] = JSON.stringify({
  header: {
    version: PROTOCOL_VERSION,
    message_id: ID_MARK,
    message_ts: '2026-02-03T09:15:00.000Z',
    action: 'search',
    sender_id: ASKER_SENDER,
    receiver_id: REGISTRY_SENDER,
    total_count: 1,
    is_msg_encrypted: false,
    meta: {},
  },
  message: {
    transaction_id: TRANSACTION_ID,
    search_request: [
      {
        reference_id: REFERENCE_ID,
        timestamp: '2026-02-03T09:15:00.000Z',
        search_criteria: {
          version: PROTOCOL_VERSION,
          reg_type: REG_TYPE,
          reg_record_type: RECORD_TYPE.emitted,
          query_type: 'idtype-value',
          query: { type: IDENTIFIER_TYPE, value: VALUE_MARK },
          pagination: { page_size: 10, page_number: 1 },
        },
        locale: 'eng',
      },
    ],
  },
}).split(new RegExp(`"(?:${ID_MARK}|${VALUE_MARK})"`))

const run = randomUUID()
let sent = 0

/** The body of a search for this identifier; each is a message of its own, with an id of its own. */
export function question(identifier: string): string {
  sent += 1
  return `${start}"${run}-${sent}"${middle}${JSON.stringify(identifier)}${end}`
}
