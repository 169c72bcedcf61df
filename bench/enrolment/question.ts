/** Whether a person is enrolled, as both servers are asked. */
import { randomUUID } from 'node:crypto'
import { PROTOCOL_VERSION } from '@rollcall/protocol'
import { ASKER_SENDER } from '../search/question.ts'

export const BENEFICIARIES = { namespace: 'bench-ibr', kind: 'ibr', sender_id: 'beneficiaries.bench.example' } as const

export const TRANSACTION_ID = '5f0f9c1e-transaction'

/** The part of a question that the floor reads. */
export interface EnrolledQuestion {
  readonly header: { readonly message_id: string }
  readonly message: {
    readonly transaction_id: string
    readonly enrolled_criteria: { readonly query: { readonly person_identifier: { readonly eq: string } } }
  }
}

/** A message of its own for each person. */
export const enrolledQuestion = (person: string): string =>
  JSON.stringify({
    header: {
      version: PROTOCOL_VERSION,
      message_id: randomUUID(),
      message_ts: '2026-02-03T09:15:00.000Z',
      action: 'search',
      sender_id: ASKER_SENDER,
      receiver_id: BENEFICIARIES.sender_id,
      total_count: 1,
      is_msg_encrypted: false,
      meta: {},
    },
    message: {
      transaction_id: TRANSACTION_ID,
      enrolled_criteria: { query_type: 'expression', response_entity: 'Member', query: { person_identifier: { eq: person } } },
    },
  })
