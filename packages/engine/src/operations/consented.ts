/** Checks the consent under which an item is answered, before a record is read. */
import { randomUUID } from 'node:crypto'
import type { ConsentChecks } from '@rollcall/consents/consents'
import { consentSubjectOf } from '@rollcall/consents/consents'
import { ConsentProblem } from '@rollcall/consents/verify'
import type { AuditedPurposeAndConsent, ConsentUse, SignedConsent } from '@rollcall/core/model/consent'
import type { Exchange } from '@rollcall/core/model/exchange'
import type { Grant } from '@rollcall/core/model/grant'
import { unsharedRecordIdentifiers } from '@rollcall/core/model/person-identifiers'
import type { RecordQuery } from '@rollcall/core/model/record-source'
import type { FoundRecord, Identifier } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { type CriteriaConsentMembers, checkConsentAge, checkConsentGiven, checkPurposeGranted } from '@rollcall/core/policy/basis'
import { consentCoverage } from '@rollcall/core/policy/consent-coverage'
import { ItemRejection, type RecordType } from '@rollcall/protocol'
import { findRecordsMeasured, recordReaderOf } from './find-records.ts'
import type { AnswerDeps, ItemHandlerInput } from './item.ts'

/** The consent under which an item is answered, with the grant and the identifiers that the search uses under this consent. */
export interface ItemConsent {
  /** The grant. Under a signed consent, it is reduced to what the consent covers. */
  readonly grant: Grant
  /** The identifiers to search for. If the consent has ended, they are random values that nobody has. */
  readonly identifiers: readonly Identifier[]
  readonly facts: AuditedPurposeAndConsent
  readonly signed: SignedConsent | null
  /**
   * The use of the consent: checked again before the answer is sent, and stored with an asynchronous answer. Null: the grant
   * demands no consent.
   */
  readonly use: ConsentUse | null
}

interface ConsentCheckContext {
  readonly deps: Pick<AnswerDeps, 'consents' | 'clock' | 'limits'>
  readonly exchange: Exchange
}

/**
 * Checks the consent of an item.
 * @param name the member with the criteria
 * @param asked the identifiers in the criteria
 * @throws ItemRejection rjct.search_criteria.invalid: there is no consent, or it is invalid. A consent that was valid
 * and has ended is not refused: the item is answered as for an unknown person
 */
export async function checkItemConsent(
  { deps, exchange }: ConsentCheckContext,
  criteria: CriteriaConsentMembers,
  name: string,
  asked: readonly Identifier[],
): Promise<ItemConsent> {
  const { grant, participant } = exchange
  const now = new Date(deps.clock.date())
  const given = checkConsentGiven(grant, criteria, { now, most: deps.limits.consent_age, name })
  if (given === null) {
    return { grant, identifiers: asked, facts: {}, signed: null, use: null }
  }
  if (given.jws === null) {
    const purpose = given.purpose ?? ''
    const use = { participant: participant.id, purpose, signed: null, pseudonyms: await deps.consents.pseudonyms(asked) }
    const facts: AuditedPurposeAndConsent = { purpose, consent: { form: 'asserted' } }
    return replaceEndedItemConsent(deps.consents, { grant, identifiers: asked, facts, signed: null, use })
  }
  const at = `${given.at}.consent_jws`
  const signed = await verifiedConsent({ deps, exchange }, given.jws, at, now)
  if (given.purpose !== null && given.purpose !== signed.purpose) {
    throw consentRejection(`${given.at}.purpose.code: must be that of the signed consent`)
  }
  const named = findConsenterIdentifier(grant, signed, asked)
  if (named === undefined) throw consentRejection(`${at}: is for another person than is asked for`)
  await rejectOnConsentProblem(at, () => deps.consents.use(signed, participant, named))
  const { authority, jti, purpose, given_at, expires_at } = signed
  const facts: AuditedPurposeAndConsent = { purpose, consent: { form: 'signed', jti, authority: authority.name } }
  const use = {
    participant: participant.id,
    purpose,
    signed: { authority: authority.id, jti, given_at, expires_at },
    pseudonyms: await deps.consents.pseudonyms([named]),
  }
  const coverage = consentCoverage(grant.identifiers.kind, signed.attributes)
  return replaceEndedItemConsent(deps.consents, { grant: { ...grant, coverage }, identifiers: [named], facts, signed, use })
}

/** Finds the identifier of the person who consents among those in the criteria; undefined: none is of that person. */
export function findConsenterIdentifier(
  grant: Grant,
  signed: SignedConsent,
  asked: readonly Identifier[],
): Identifier | undefined {
  const subject = consentSubjectOf(grant.identifiers.kind, signed)
  return asked.find(({ type, value }) => type === subject?.type && value === subject.value)
}

/** Verifies that a signed consent is valid now, not too old, and for a purpose of the grant. @throws ItemRejection it is not */
export async function verifiedConsent(
  { deps, exchange }: ConsentCheckContext,
  jws: string,
  at: string,
  now: Date,
): Promise<SignedConsent> {
  const { grant, registry, participant } = exchange
  const scope = { registry: registry.sender_id, participant: participant.sender_id, now, authorities: grant.terms.authorities }
  const signed = await rejectOnConsentProblem(at, () => deps.consents.verify(jws, scope))
  checkConsentAge(`${at}: iat`, signed.given_at.getTime(), now, deps.limits.consent_age)
  checkPurposeGranted(`${at}: purpose.code`, signed.purpose, grant.terms.purposes)
  return signed
}

/** If the consent has ended, returns identifiers that nobody has: so the same steps are done, and nothing is found. */
async function replaceEndedItemConsent(
  consents: ConsentChecks,
  consented: ItemConsent & { readonly use: ConsentUse },
): Promise<ItemConsent> {
  if (!(await consents.isEnded(consented.use))) return consented
  const value = randomUUID()
  const identifiers = consented.identifiers.map(({ type }) => ({ type, value }))
  return { ...consented, identifiers, use: await makeUseOfInventedConsent(consents, consented.use, identifiers) }
}

/** The most milliseconds by which the database's clock may be ahead of ours. An invented consent must be valid by both clocks. */
const MOST_CLOCK_LEAD_MS = 86_400_000

/** The latest end of a consent. JSON writes a later year with a sign, which PostgreSQL does not read. */
const LATEST_CONSENT_END_MS = Date.UTC(9999, 11, 31, 23, 59, 59)

/** Makes the use of a consent that this server has invented, for identifiers that nobody has. It is checked like a real use. */
async function makeUseOfInventedConsent(
  { pseudonyms }: Pick<ConsentChecks, 'pseudonyms'>,
  { signed, ...use }: ConsentUse,
  identifiers: readonly Identifier[],
): Promise<ConsentUse> {
  const unknown = signed && {
    ...signed,
    jti: randomUUID(),
    expires_at: new Date(Math.min(signed.expires_at.getTime() + MOST_CLOCK_LEAD_MS, LATEST_CONSENT_END_MS)),
  }
  return { ...use, signed: unknown, pseudonyms: await pseudonyms(identifiers) }
}

/**
 * Checks that the consent has not ended for any identifier of the record: a withdrawal may name another identifier of the person
 * than the request does.
 * @returns the use, with the pseudonyms of identifiers that only this record has; null: the consent has ended
 */
export async function consentUseOfRecord(
  work: ItemHandlerInput,
  use: ConsentUse,
  recordType: RecordType,
  record: FoundRecord,
): Promise<ConsentUse | null> {
  const { consents } = work.deps
  const { registry } = work.exchange
  const reader = {
    find: (_: RegistryShape, query: RecordQuery) => findRecordsMeasured(work, query),
    merged: recordReaderOf(work).merged,
  }
  const pseudonyms = await consents.pseudonyms(await unsharedRecordIdentifiers({ registry, recordType, reader }, record))
  const all = { ...use, pseudonyms: [...use.pseudonyms, ...pseudonyms] }
  return (await consents.isEnded(all)) ? null : all
}

/** Runs work, and turns a ConsentProblem that it throws into a rejection of the item. @throws ItemRejection */
export async function rejectOnConsentProblem<Result>(at: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ConsentProblem) throw consentRejection(`${at}: ${error.message}`)
    throw error
  }
}

const consentRejection = (message: string): ItemRejection => new ItemRejection('rjct.search_criteria.invalid', message)
