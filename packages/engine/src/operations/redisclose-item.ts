/** Discloses an item of an earlier answer again, under the grant that applies now. */
import type { Exchange } from '@rollcall/core/model/exchange'
import type { ReplyMembers } from '@rollcall/core/model/outcome'
import { discloseStoredRecords } from '@rollcall/core/policy/disclosure'
import { countingRulesOf, neverShowsRecords } from '@rollcall/core/policy/total'
import { BodyUnreadable } from '@rollcall/keys/bodies'
import { isJsonObject, type JsonObject, type RecordType, resolveRecordType } from '@rollcall/protocol'
import type { AnswerDeps } from './item.ts'

/**
 * The item of an earlier answer, with the records that may be shown today. They count in the quotas of records again.
 * @param options.isOld true: the answer was made under another grant or protection, and may have persons who are hidden now
 * @param options.isConsented true: the item has a consent that holds, or needs none; false: it is answered as for an unknown
 * person
 * @throws BodyUnreadable
 */
export async function rediscloseItem(
  deps: AnswerDeps,
  exchange: Exchange,
  item: JsonObject,
  { isOld, isConsented }: { readonly isOld: boolean; readonly isConsented: boolean },
): Promise<ReplyMembers> {
  const { data, pagination } = item
  if (!isJsonObject(data) || !Array.isArray(data.reg_records)) return item
  const { reg_record_type } = data
  const answered = isConsented ? data.reg_records : []
  const { grant } = exchange
  const recordType = typeof reg_record_type === 'string' ? resolveRecordType(exchange.registry.kind, reg_record_type) : undefined
  if (recordType === undefined) throw new BodyUnreadable('altered')
  const { shown, hidden } = discloseStoredRecords(grant, recordType, answered, isOld)
  const shortage = await deps.grantQuota.take('records', exchange, shown.length)
  const records = shortage === null ? shown : []
  const status_reason_message = shortage === null ? WITHHELD_REASON : QUOTA_USED_UP_REASONS[shortage.of]
  return {
    ...item,
    ...(records.length < answered.length - hidden && { status_reason_message }),
    data: { ...data, reg_records: records },
    ...(isJsonObject(pagination) && {
      pagination: isConsented
        ? subtractHiddenFromTotal(grant, recordType, pagination, records.length, hidden)
        : { ...pagination, total_count: 0 },
    }),
  }
}

const WITHHELD_REASON = 'records of this answer are withheld under the grant of today; search again'
/** The status_reason_message of an item whose records are withheld, by the limit of records that has too little left. */
const QUOTA_USED_UP_REASONS = {
  day: 'the records are withheld: the daily quota of records that is granted to this participant is used up',
  minute:
    'the records are withheld: the rate of records a minute that is granted to this participant is reached; ask again later',
  burst:
    'the records are withheld: they are more at once than this participant is granted in a minute; search again for smaller pages',
} as const

/** Returns the pagination with the total that the grant lets the participant see, without the `hidden` records. */
function subtractHiddenFromTotal(
  grant: Exchange['grant'],
  recordType: RecordType,
  pagination: JsonObject,
  shown: number,
  hidden: number,
): JsonObject {
  const { total_count: total, page_size, page_number } = pagination
  if (typeof total !== 'number' || typeof page_size !== 'number' || typeof page_number !== 'number') return pagination
  const page = { page_size, page_number, shown, others: neverShowsRecords(grant, recordType) ? 'never' : 'on request' } as const
  return { ...pagination, total_count: countingRulesOf(grant).total(Math.max(0, total - hidden), page) }
}
