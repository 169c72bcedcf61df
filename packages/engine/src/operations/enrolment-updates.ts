/**
 * Answers enrolment updates: each beneficiary of a message is written or rejected alone (spec "Enrolment messages",
 * D8). The beneficiaries are written in portions of one transaction each. The answer is sent after all commits.
 */

import { runInSlot } from '@rollcall/base/shared/semaphore'
import { ShortEventLoopTurns } from '@rollcall/base/shared/short-turns'
import { InvalidBeneficiary, readBeneficiary } from '@rollcall/core/enrolment/beneficiary'
import type { UpdateOrigin } from '@rollcall/core/enrolment/ledger'
import { elementsOfValue } from '@rollcall/core/enrolment/registers'
import { checkPeerWaits, type Exchange, type Message, messageIdKey, referenceId } from '@rollcall/core/model/exchange'
import { isNameGranted } from '@rollcall/core/model/grant'
import type { AuditedItem } from '@rollcall/core/model/outcome'
import { permissionFor } from '@rollcall/core/policy/permission'
import { withTransaction } from '@rollcall/database/transaction'
import { compiledFiltersOf } from '@rollcall/delivery/events/recording'
import { canonicalJson, isJsonObject, type JsonValue, searchKey, timestampInstant } from '@rollcall/protocol'
import { recordsOf } from '@rollcall/records/records/registry-records'
import type { ClientBase } from 'pg'
import { receiptBodyBinding, storeReceipt } from '../store/exchanges/enrolment-receipts.ts'
import { type PortionWriteDeps, type UpdateEntry, type UpdateEntryResult, writePortion } from './enrolment-portion.ts'
import type { AnswerDeps, MessageToAnswer } from './item.ts'
import type { Outcome } from './outcome.ts'

/** The most beneficiaries of an update that one transaction writes. */
const MOST_PORTION_ENTRIES = 100

/** The dependencies of `answerEnrolmentUpdates`. */
export type EnrolmentUpdateDeps = Pick<AnswerDeps, 'bodies' | 'clock' | 'db' | 'limits' | 'metrics' | 'turns'>

/**
 * Writes or rejects each beneficiary of the message. When it returns, the beneficiaries that the outcome reports as successful
 * are committed, and so is the receipt.
 */
export async function answerEnrolmentUpdates(
  deps: EnrolmentUpdateDeps,
  { exchange, message }: Pick<MessageToAnswer, 'exchange' | 'message'>,
): Promise<Outcome> {
  const { registry } = exchange
  const records = recordsOf(deps.db, registry)
  const beneficiaries = beneficiariesOf(message)
  const results = new Map<number, UpdateEntryResult>()
  const entries: UpdateEntry[] = []
  const turns = new ShortEventLoopTurns()
  for (const [position, beneficiary] of beneficiaries.entries()) {
    const read = readUpdateEntry(exchange, beneficiary, position)
    if ('rejected' in read) results.set(position, read)
    else if (records.sink === null) results.set(position, { rejected: UPDATES_REFUSED_REASON })
    else entries.push(read)
    await turns.next()
  }
  const now = new Date(deps.clock.date())
  const scope: Omit<PortionWriteDeps, 'sink'> = {
    db: deps.db,
    registry,
    recordType: registry.kind.record_types[0],
    grant: exchange.grant,
    recording: { registry, records, now, limits: deps.limits, filters: compiledFiltersOf(deps.db.pool) },
  }
  const portions = Array.from({ length: Math.max(1, Math.ceil(entries.length / MOST_PORTION_ENTRIES)) }, (_, at) =>
    entries.slice(at * MOST_PORTION_ENTRIES, (at + 1) * MOST_PORTION_ENTRIES),
  )
  let outcome: Outcome | undefined
  for (const [at, portion] of portions.entries()) {
    checkPeerWaits(exchange)
    const isLast = at === portions.length - 1
    const finish = async (client: ClientBase, written: ReadonlyMap<number, UpdateEntryResult>): Promise<void> => {
      if (!isLast) return
      outcome = outcomeOfUpdates(exchange, beneficiaries, new Map([...results, ...written]), entries, now)
      await storeReceipt(client, await receiptOf(deps, exchange, message, outcome))
    }
    // Encrypting '' loads the body key of the day into memory. Without it, `finish`, which runs inside the transaction of the
    // portion, would need a second connection to read the key.
    if (isLast) await deps.bodies.encryptBody('', receiptBodyBinding(exchange.correlation_id))
    // This node writes one portion of a registry at a time. Portions may write the same persons: they would wait for each
    // other, and each would keep a connection meanwhile.
    const written = await runInSlot(deps.turns, `enrolment ${registry.id}`, () =>
      records.sink === null
        ? withTransaction(deps.db.pool, (client) => finish(client, new Map())).then(() => results)
        : writePortion({ ...scope, sink: records.sink }, portion, finish),
    )
    for (const [position, result] of written) results.set(position, result)
  }
  outcome ??= outcomeOfUpdates(exchange, beneficiaries, results, entries, now)
  for (const result of results.values()) {
    deps.metrics.itemAnswered(exchange.operation.name, 'rejected' in result ? 'rjct' : 'succ', 'none')
  }
  return outcome
}

const UPDATES_REFUSED_REASON = 'this registry takes no enrolment updates: its records are written by other systems'

/** Reads the beneficiaries of an enrolment update, whose schema was checked before. */
function beneficiariesOf({ enrolled_updates }: Message): readonly JsonValue[] {
  const updates = enrolled_updates as { readonly beneficiaries: readonly JsonValue[] }
  return updates.beneficiaries
}

/** Reads a beneficiary of the message, and checks that the grant allows its identifiers and programmes. */
function readUpdateEntry(
  { registry, participant, grant, header: { message_ts, message_id } }: Exchange,
  value: JsonValue,
  position: number,
): UpdateEntry | { readonly rejected: string } {
  const scope = { kind: registry.kind, recordType: registry.kind.record_types[0] }
  try {
    const beneficiary = readBeneficiary(scope, value)
    const refused = beneficiary.identifiers.find(({ type }) => !isNameGranted(grant.identifiers.types, type))
    if (refused !== undefined) {
      const rule = `identifiers of type ${refused.type} are not granted to this participant`
      return { rejected: `member.member_identifier: ${rule}` }
    }
    for (const { programme } of beneficiary.enrolments) {
      const permission = permissionFor(grant, { operation: 'enrolment-updates', programme })
      if (!permission.allowed) return { rejected: `programme.programme_identifier: ${permission.reason}` }
    }
    return { position, beneficiary, origin: makeUpdateStampAndTime(message_ts, position, message_id, participant.id) }
  } catch (error) {
    if (error instanceof InvalidBeneficiary) return { rejected: error.message }
    throw error
  }
}

/**
 * Makes the origin of an update: its time, and the stamp that orders updates. As text, stamps sort by message_ts, position in the
 * message, message_id (as `messageIdKey` returns it) and `Participant.id`.
 */
function makeUpdateStampAndTime(message_ts: string, position: number, message_id: string, participant: number): UpdateOrigin {
  const time = timestampInstant(message_ts) ?? 0
  const place = `${paddedDigits(time + UPDATE_STAMP_TIME_OFFSET_MS, 15)} ${paddedDigits(position, 6)}`
  return { stamp: `${place} ${messageIdKey(message_id)} ${participant}`, message_ts: new Date(time).toISOString() }
}

/** Milliseconds added to the time in a stamp, so that times before 1970 are positive numbers too. */
const UPDATE_STAMP_TIME_OFFSET_MS = 100_000_000_000_000
const paddedDigits = (number: number, count: number): string => String(number).padStart(count, '0')

function outcomeOfUpdates(
  { operation, registry }: Exchange,
  beneficiaries: readonly JsonValue[],
  results: ReadonlyMap<number, UpdateEntryResult>,
  entries: readonly UpdateEntry[],
  now: Date,
): Outcome {
  const timestamp = now.toISOString()
  const items = beneficiaries.map((beneficiary, position) => {
    const result = results.get(position) ?? { said: null }
    const reference_id = sentMemberIdentifier(beneficiary) || String(position)
    if ('rejected' in result) {
      return { reference_id, timestamp, status: 'rjct', status_reason_message: result.rejected } as const
    }
    const said = result.said === null ? {} : { status_reason_message: result.said }
    return { reference_id, timestamp, status: 'succ', ...said } as const
  })
  const rejected = items.filter(({ status }) => status === 'rjct').length
  const named = new Map(entries.map(({ position, beneficiary }) => [position, beneficiary.identifiers]))
  const record_type = registry.kind.record_types[0].name
  const audited = items.map(({ status }, position): AuditedItem => {
    const identifiers = named.get(position)
    if (identifiers === undefined) return { code: status }
    // In the audit entry, a rejected beneficiary counts as asked about, because nothing of it was written.
    const role = status === 'succ' ? 'written' : 'asked'
    return { code: status, record_type, persons: [{ role, identifiers }] }
  })
  return {
    status: rejected === items.length ? 'rjct' : 'succ',
    ...(rejected === items.length && { status_reason_code: 'rjct.errors.too_many' }),
    ...(rejected > 0 && { status_reason_message: `${rejected} of ${items.length} beneficiaries rejected; see each item` }),
    total_count: items.length,
    completed_count: items.length,
    audited,
    members: { [operation.reply.items ?? '']: items },
  }
}

/** The first identifier in a beneficiary's `member`, as the sender wrote it, cut to the length of a reference_id; '': none. */
function sentMemberIdentifier(beneficiary: JsonValue): string {
  const member = findJsonMember(beneficiary, 'member')
  const [first] = elementsOfValue(findJsonMember(member, 'member_identifier') ?? findJsonMember(beneficiary, 'member_identifier'))
  const value = findJsonMember(first, 'identifier_value') ?? first
  return referenceId({ reference_id: typeof value === 'number' ? String(value) : value })
}

function findJsonMember(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined
  return Object.entries(value).find(([one]) => searchKey(one) === name)?.[1]
}

/** Makes the receipt for later status questions: the message of the answer and the reason in the answer's header, encrypted. */
async function receiptOf(
  { bodies }: EnrolmentUpdateDeps,
  { correlation_id, encrypted }: Exchange,
  { transaction_id }: Message,
  { members, status_reason_message }: Outcome,
) {
  const text = canonicalJson({
    header: { ...(status_reason_message !== undefined && { status_reason_message }) },
    message: { transaction_id, correlation_id, ...members },
  })
  return { correlation_id, encrypted, body: await bodies.encryptBody(text, receiptBodyBinding(correlation_id)) }
}
