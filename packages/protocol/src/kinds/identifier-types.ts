/** Identifier types that several kinds share (public-standard.md 2.0). */
import type { IdentifierType } from './kind.ts'

export const UIN: IdentifierType = { name: 'UIN', normaliser: 'code' }

/** The national identity number, with all its names. */
export const NID: IdentifierType = { name: 'NID', aliases: ['NIN', 'NationalID', 'NATIONAL_ID'], normaliser: 'code' }

export const MOBILE: IdentifierType = { name: 'MOBILE', aliases: ['PHONE', 'PHONE_NUMBER', 'MOBILE_NUMBER'], normaliser: 'phone' }

export const EMAIL: IdentifierType = { name: 'EMAIL', aliases: ['EMAIL_ADDRESS'], normaliser: 'email' }

/**
 * The type of all identifiers whose type the kind does not list. A query for an identifier of any type also compares these,
 * unless the kind's `unlisted_identifiers` is false. A query that names a type which the kind does not list is refused, so that
 * the sender of a misspelled type does not believe that nobody was found.
 */
export const UNLISTED: IdentifierType = { name: '*', normaliser: 'code' }
