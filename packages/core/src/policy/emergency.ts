/** The emergency part of a grant: it shows more about one person, for a reason that the operator reviews afterwards. */
import { ItemRejection, type RecordType, timestampInstant } from '@rollcall/protocol'
import { ALL_NAMES, type Grant, isNameGranted } from '../model/grant.ts'
import { CLOCK_SKEW_SECONDS, type CriteriaConsentMembers, EMERGENCY_PURPOSE } from './basis.ts'
import { GrantProblem } from './grant-problem.ts'
import { visibleMemberTrees } from './visible.ts'

/** The least and most characters of an emergency's reason, without spaces at its ends. */
const REASON_CHARACTER_LIMITS = { least: 10, most: 1_000 } as const
/** The largest age of an emergency item in seconds, by the time `ts` that the item states. */
const MOST_ITEM_AGE_SECONDS = 86_400

/** The members of a grant without its emergency part. The emergency grant has these members too. */
type GrantWithoutEmergency = Omit<Grant, 'id' | 'emergency'>

/**
 * The grant that replaces this one for an emergency item. The item asks by one identifier for one person, with the member
 * `authorize`, without a consent. The emergency grant has a daily limit of items of its own; `records_per_day` and
 * `records_per_minute` do not apply. It shows more than the grant, but no protected person and no record of several persons.
 * Everything else is as in the grant.
 * @param recordTypes the granted record types
 * @throws GrantProblem
 */
export function readEmergencyGrant(grant: GrantWithoutEmergency, recordTypes: readonly RecordType[]): GrantWithoutEmergency {
  const { records_per_day: _, records_per_minute: __, ...withoutQuotas } = grant.terms
  const { consent: ___, authorities: ____, ...terms } = withoutQuotas
  const { see, purposes = [], emergency } = terms
  if (!isNameGranted(grant.operations, 'search')) throw new GrantProblem('emergency', 'needs the operation search')
  if (purposes.includes(EMERGENCY_PURPOSE)) {
    throw new GrantProblem('purposes', `must not have ${EMERGENCY_PURPOSE} beside an emergency part`)
  }
  // A record type with identifiers of parts, such as a household, is about several persons, so it is left out.
  const personal = recordTypes.filter(({ identifiers }) => identifiers.every(({ names }) => names !== 'part'))
  const more = emergency?.see ?? []
  const all = see === ALL_NAMES || more === ALL_NAMES ? ALL_NAMES : [...see, ...more]
  return {
    ...grant,
    terms: { ...terms, see: all, query_forms: ['identifier'], basis: 'authorize', purposes: [EMERGENCY_PURPOSE] },
    recordTypes: new Set(personal.map(({ name }) => name)),
    queryForms: new Set(['identifier']),
    visible: all === ALL_NAMES ? null : emergencyMemberTrees(grant, recordTypes, all),
    // An emergency shows no protected person, even of categories that the grant names.
    hidden: { ...grant.hidden, categories: [] },
  }
}

function emergencyMemberTrees(
  { identifiers: { kind } }: GrantWithoutEmergency,
  recordTypes: readonly RecordType[],
  names: readonly string[],
): Grant['visible'] {
  try {
    return visibleMemberTrees(kind, recordTypes, names)
  } catch (error) {
    // The names in `see` of the grant were read before, so the error is in the emergency part.
    throw error instanceof GrantProblem ? new GrantProblem('emergency.see', error.rule) : error
  }
}

/** Checks that the record type is about one person. @throws ItemRejection rjct.search_criteria.invalid */
export function checkIsPersonType({ grant }: ItemEmergency, { name }: Pick<RecordType, 'name'>): void {
  if (isNameGranted(grant.recordTypes, name)) return
  throw new ItemRejection(
    'rjct.search_criteria.invalid',
    `search_criteria.reg_record_type: must not be ${name} in an emergency, which is about one person`,
  )
}

/** An emergency: the grant that applies, and the participant's reason. */
export interface ItemEmergency {
  readonly grant: Grant
  /** The reason in the participant's words, which may be personal data. */
  readonly reason: string
}

/**
 * Reads the emergency of an item.
 * @returns null when the item is no emergency, or the grant has no emergency part
 * @throws ItemRejection rjct.search_criteria.invalid: the reason is missing or has a wrong length; `ts` is missing or
 * not of the last 24 hours
 */
export function readItemEmergency(
  { id, emergency }: Pick<Grant, 'id' | 'emergency'>,
  { authorize }: CriteriaConsentMembers,
  now: Date,
): ItemEmergency | null {
  if (emergency === undefined || authorize?.purpose?.code !== EMERGENCY_PURPOSE) return null
  const { ts, purpose } = authorize
  const at = ts === undefined ? null : timestampInstant(ts)
  const age = at === null ? Number.NaN : (now.getTime() - at) / 1_000
  if (!(age >= -CLOCK_SKEW_SECONDS && age <= MOST_ITEM_AGE_SECONDS))
    throw emergencyRejection('ts: must be of the last 24 hours in an emergency')
  const reason = purpose.text?.trim() ?? ''
  if (reason.length < REASON_CHARACTER_LIMITS.least || reason.length > REASON_CHARACTER_LIMITS.most) {
    throw emergencyRejection(
      `purpose.text: must say the reason of the emergency, in ${REASON_CHARACTER_LIMITS.least} to ${REASON_CHARACTER_LIMITS.most} characters`,
    )
  }
  return { grant: { ...emergency, id }, reason }
}

const emergencyRejection = (rule: string): ItemRejection =>
  new ItemRejection('rjct.search_criteria.invalid', `search_criteria.authorize.${rule}`)
