import type { IdentifierType } from './kind.ts'

/** Whether identifiers of the type are means of contact, which several people share: a telephone, a mailbox. */
export const isContact = ({ normaliser }: Pick<IdentifierType, 'normaliser'>): boolean =>
  normaliser === 'phone' || normaliser === 'email'
