/** Identifier types that several kinds share (public-standard.md 2.0). */
import type { IdentifierType } from './kind.ts'

export const UIN: IdentifierType = { name: 'UIN', normaliser: 'code' }

/** The national identity number, with all its names. */
export const NID: IdentifierType = { name: 'NID', aliases: ['NIN', 'NationalID', 'NATIONAL_ID'], normaliser: 'code' }

export const MOBILE: IdentifierType = {
  name: 'MOBILE',
  aliases: ['PHONE', 'PHONE_NUMBER', 'MOBILE_NUMBER'],
  normaliser: 'phone',
}

export const EMAIL: IdentifierType = { name: 'EMAIL', aliases: ['EMAIL_ADDRESS'], normaliser: 'email' }

/**
 * The type that stands for all types that the kind does not list. A query for an identifier of any type finds such
 * identifiers, unless `unlisted_identifiers` is false. No query can name this type, so a misspelled type is refused
 * instead of finding nobody.
 */
export const UNLISTED: IdentifierType = { name: '*', normaliser: 'code' }
