/** The answers of floors: the look-up of `lookUpStatement`, and the same bytes as ours from fixed pieces. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { recordTable } from '@rollcall/records/records/record-tables'
import { lookUpStatement } from '../../packages/records/src/records/search-statement.ts'
import { aroundSignatureValue } from './answers.ts'
import { ASKER_SENDER, RECORD_TYPE, REFERENCE_ID, REG_TYPE, REGISTRY_SENDER } from './question.ts'

/** The part of a search that a floor reads. */
export interface FloorQuestion {
  readonly header: { readonly message_id: string; readonly sender_uri?: string }
  readonly message: {
    readonly transaction_id: string
    readonly search_request: readonly [
      { readonly search_criteria: { readonly query: { readonly type: string; readonly value: string } } },
    ]
  }
}

export interface Asked {
  readonly type: string
  readonly value: string
  readonly transaction_id: string
  readonly correlation_id: string
}

const ID = 'e3b0c442-98fc-4c14-9afb-f4c8996fb924'
const TIME = '2026-02-03T09:15:00.000Z'
const BEFORE_CORRELATION =
  `{"header":{"action":"on-search","completed_count":1,"is_msg_encrypted":false,"message_id":"${ID}",` +
  `"message_ts":"${TIME}","meta":{},"receiver_id":"${ASKER_SENDER}","sender_id":"${REGISTRY_SENDER}",` +
  `"status":"succ","total_count":1,"version":"1.0.0"},"message":{"correlation_id":"`
const BEFORE_RECORDS = `","search_response":[{"data":{"reg_record_type":"${RECORD_TYPE.emitted}","reg_records":[`
const BEFORE_TOTAL = `],"reg_type":"${REG_TYPE}","version":"1.0.0"},"locale":"eng","pagination":{"page_number":1,"page_size":10,"total_count":`
const BEFORE_TRANSACTION = `},"reference_id":"${REFERENCE_ID}","status":"succ","timestamp":"${TIME}"}],"transaction_id":"`

/**
 * Looks up and answers, over the pool of the database.
 * @param signatureOfOurs as it stands in an answer of ours
 * @param sign without it, the answer has the signature of ours: as many bytes, and nothing was signed
 */
export function floorAnswers(
  { pool }: Pick<Database, 'pool'>,
  registry: Registry,
  signatureOfOurs: string,
): (asked: Asked, sign?: (text: string) => string) => Promise<string> {
  const [beforeValue, afterValue] = aroundSignatureValue(signatureOfOurs)
  const table = recordTable(registry, RECORD_TYPE)
  const page = { sort: [], limit: 10, offset: 0, cap: 10_000 }
  return async ({ type, value, transaction_id, correlation_id }, sign) => {
    const statement = lookUpStatement(table, { type, value }, page)
    const { rows } = await pool.query<{ total: number; document: string | null }>({ ...statement, values: [...statement.values] })
    const records = rows.flatMap(({ document }) => document ?? []).join(',')
    const text =
      BEFORE_CORRELATION +
      correlation_id +
      BEFORE_RECORDS +
      records +
      BEFORE_TOTAL +
      rows[0]?.total +
      BEFORE_TRANSACTION +
      transaction_id +
      '"},"signature":'
    if (sign === undefined) return `${text}${signatureOfOurs}}`
    return `${text}${beforeValue}${sign(text)}${afterValue}}`
  }
}
