/** SQL about ended consents for statements of other packages, so that these need not name the tables. */

/**
 * SQL condition on a row (participant, pseudonyms, purpose, authority, jti, given_at, expires_at): its consent has
 * ended. A consent that was signed after a withdrawal is a new one and has not ended, unless it was used before the
 * withdrawal: then its given_at cannot be true.
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

/** SQL for the name of an authority, also of a removed one. @param id SQL: a column with the name of its table */
export const authorityNameSql = (id: string): string =>
  `(select named.name from consent_authority as named where named.id = ${id})`
