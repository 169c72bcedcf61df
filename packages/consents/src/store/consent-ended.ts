/** SQL about ended consents, for statements in other packages, which do not name the tables of this package. */

/**
 * SQL condition on a row (participant, pseudonyms, purpose, authority, jti, given_at, expires_at): its consent has expired, was
 * revoked or withdrawn, or its authority was removed. A withdrawal ends the consents that were given before it, and those without
 * a given_at. A consent with a later given_at is a new one and does not end. But if it was first used before the withdrawal, its
 * given_at cannot be right, and the withdrawal ends it too.
 */
export const hasConsentEndedSql = (row: string): string => `(${row}.expires_at <= now()
  or exists (select from signed_consent
    where signed_consent.authority = ${row}.authority and signed_consent.jti = ${row}.jti and revoked_at is not null)
  or exists (select from consent_authority
    where consent_authority.id = ${row}.authority and removed_at is not null)
  or exists (select from consent_withdrawal as withdrawn
    where withdrawn.lifted_at is null and withdrawn.pseudonyms && ${row}.pseudonyms
      and withdrawn.purpose = ${row}.purpose
      and (withdrawn.participant is null or withdrawn.participant = ${row}.participant)
      and (${row}.given_at is null or ${row}.given_at <= withdrawn.withdrawn_at
        or exists (select from signed_consent
          where signed_consent.authority = ${row}.authority and signed_consent.jti = ${row}.jti
            and used_at <= withdrawn.withdrawn_at))))`

/** SQL for the name of an authority, also of a removed one. @param id SQL of its id, such as `used.authority` */
export const authorityNameSql = (id: string): string =>
  `(select named.name from consent_authority as named where named.id = ${id})`
